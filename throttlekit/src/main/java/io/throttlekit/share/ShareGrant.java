package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.FleetState.NodeKey;
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
 * @param frequent whether the steering node calls for heartbeats at the least interval
 * @param sameId whether another member has the id of this node
 * @param remnants what is reserved for nodes that are no members any more
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
    boolean frequent,
    boolean sameId,
    List<Remnant> remnants,
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

  /**
   * Requests that a node had in flight when it left, or may have had when its lease ended.
   *
   * @param permits from 1
   */
  public record Remnant(NodeKey node, int permits) {
    /** Returns the number of the node's process, with which its incarnations begin. */
    public int process() {
      return Incarnation.process(node.incarnation());
    }
  }

  /** Returns the same with a limit, and thus a share, of at most so many requests. */
  ShareGrant atMost(int requests) {
    return limit <= requests && share <= requests
        ? this
        : new ShareGrant(
            status,
            Math.min(share, requests),
            Math.min(limit, requests),
            applied,
            nodes,
            generation,
            steering,
            epoch,
            frequent,
            sameId,
            remnants,
            digests);
  }

  /**
   * Returns what each member would get if the permits that are not remnants were divided equally.
   */
  int equalShare() {
    long gone = remnants.stream().mapToLong(Remnant::permits).sum();
    return (int) (Math.max(0, limit - gone) / Math.max(1, nodes));
  }

  /** Copies the lists. */
  public ShareGrant {
    remnants = List.copyOf(remnants);
    digests = List.copyOf(digests);
  }
}
