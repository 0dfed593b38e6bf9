package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Heartbeat.Publication;
import org.jspecify.annotations.Nullable;

/** What a node has sent and received in one incarnation. Not thread-safe. */
final class Incarnation {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Bits of a number that are the same for all incarnations of a process. */
  private static final int PROCESS_BITS = 32;

  private final Membership membership;
  private final long number;
  private long sequence;
  private long applied;
  private long generation;
  private long reportedGeneration;
  private @Nullable Publication publication;

  /**
   * @param number random
   */
  Incarnation(Membership membership, long number) {
    this.membership = membership;
    this.number = number;
  }

  /** Returns the number of the process that an incarnation is of. */
  static int process(long incarnation) {
    return (int) (incarnation >>> PROCESS_BITS);
  }

  /** Returns whether the first heartbeat has not been answered, which must not be overtaken. */
  boolean isJoining() {
    return sequence > 0 && applied == 0;
  }

  /**
   * Returns the next heartbeat, which acknowledges the share that is applied now.
   *
   * @param needed permits that the node needs at least
   */
  Heartbeat heartbeat(
      int localLimit, int inFlight, int needed, long permitNanos, @Nullable SampleDigest digest) {
    reportedGeneration = generation;
    int least = Math.max(inFlight, needed);
    return new Heartbeat(
        membership.key(),
        membership.node(),
        number,
        ++sequence,
        localLimit,
        digest != null && digest.answered() + digest.dropped() > 0,
        inFlight,
        digest == null ? least : Math.max(least, digest.inFlight()),
        digest == null ? 0 : digest.refused(),
        generation,
        Math.max(1, membership.leaseNanos() / NANOS_PER_MILLI),
        Math.ceilDiv(permitNanos, NANOS_PER_MILLI),
        publication,
        digest);
  }

  Departure departure(int inFlight) {
    return new Departure(membership.key(), membership.node(), number, inFlight);
  }

  /** Returns whether no answer to a later heartbeat has come before the answer to {@code beat}. */
  boolean isNewest(Heartbeat beat) {
    if (beat.incarnation() != number || beat.sequence() < applied) {
      return false;
    }
    applied = beat.sequence();
    return true;
  }

  /**
   * Notes a share that is applied.
   *
   * @param next limit to publish; null if this node does not steer
   * @return whether the coordinator should be notified of it soon
   */
  boolean granted(ShareGrant grant, @Nullable Publication next) {
    generation = grant.generation();
    publication = next;
    return generation != reportedGeneration
        || (next != null && (next.limit() != grant.limit() || next.frequent() != grant.frequent()));
  }

  /** Sets the limit to publish; null if this node does not steer. */
  void publish(@Nullable Publication next) {
    publication = next;
  }
}
