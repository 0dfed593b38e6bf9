package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import java.util.List;

/**
 * The answer to a heartbeat.
 *
 * <p>A node applies the share of the greatest generation that it has received in its incarnation:
 * answers may overtake each other. It applies it until its lease ends, by its own clock, counted
 * from when it sent the newest heartbeat that was answered, and ignores answers that arrive later.
 *
 * @param status whether the node is a member of the fleet; if not, its share is 0
 * @param share requests that the node may have in flight, from 0
 * @param limit of the whole fleet, from 1
 * @param applied of the limit, what the nodes may apply together, from 0
 * @param nodes members of the fleet, without those that left
 * @param generation of the share; a changed share has a greater one
 * @param steering id of the node that computes the limit; empty if none does
 * @param epoch of the steering lease if this node holds it, else 0
 * @param sameId whether another member has the id of this node
 * @param digests samples of all nodes since the last answer to the steering node; empty for others
 */
public record ShareGrant(
    Status status,
    int share,
    int limit,
    long applied,
    int nodes,
    long generation,
    String steering,
    long epoch,
    boolean sameId,
    List<SampleDigest> digests) {

  /** Whether a node is a member. */
  public enum Status {
    /** It is. */
    MEMBER,

    /** Its incarnation is unknown: its lease has ended, or it has left. It joins with a new one. */
    EVICTED,

    /** There are too many members. It tries again with its next heartbeat, as a new one. */
    FULL
  }

  /** Copies the list. */
  public ShareGrant {
    digests = List.copyOf(digests);
  }
}
