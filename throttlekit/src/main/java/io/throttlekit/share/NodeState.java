package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a fleet, as a coordinator stores it. Immutable.
 *
 * @param localLimit its own limit
 * @param sampled whether its limit has a vote; not once it has left
 * @param inFlight requests in flight by its last report
 * @param peak the most requests in flight between its last two reports
 * @param waiting whether it refused requests before its last report
 * @param share its last grant
 * @param generation of its last grant; 0 before the first one
 * @param mayApply the largest of its grants since the last acknowledged one, that one included
 * @param sequence of its last heartbeat
 * @param untilMillis when its lease ends; once it is no member, when its requests have ended
 * @param permitMillis how long a request that it admitted may last after its lease
 * @param left whether it is no member any more, because it has left or its lease has ended; then
 *     only its requests in flight are reserved
 * @param digests that wait for the steering node
 */
public record NodeState(
    int localLimit,
    boolean sampled,
    int inFlight,
    int peak,
    boolean waiting,
    int share,
    long generation,
    int mayApply,
    long sequence,
    long untilMillis,
    long permitMillis,
    boolean left,
    List<SampleDigest> digests) {

  /** Clamps the numbers, as those of a heartbeat: others may write to a store. */
  public NodeState {
    localLimit = Math.clamp(localLimit, 1, Heartbeat.MAX_REQUESTS);
    inFlight = Math.clamp(inFlight, 0, Heartbeat.MAX_REQUESTS);
    peak = Math.clamp(peak, 0, Heartbeat.MAX_REQUESTS);
    share = Math.clamp(share, 0, Heartbeat.MAX_REQUESTS);
    mayApply = Math.clamp(mayApply, 0, Heartbeat.MAX_REQUESTS);
    generation = Math.clamp(generation, 0L, FleetState.MAX_NUMBER);
    sequence = Math.clamp(sequence, 0L, FleetState.MAX_NUMBER);
    permitMillis = Math.clamp(permitMillis, 0L, Heartbeat.MAX_PERMIT_MILLIS);
  }

  /** Returns this node if it ends by a time; else one that ends then. */
  NodeState endingBy(long millis) {
    return untilMillis <= millis
        ? this
        : new NodeState(
            localLimit,
            sampled,
            inFlight,
            peak,
            waiting,
            share,
            generation,
            mayApply,
            sequence,
            millis,
            permitMillis,
            left,
            List.of());
  }

  /** Returns the permits that no other node may get. */
  public int reserved() {
    return Math.max(mayApply, inFlight);
  }

  /** Returns whether it had requests since its last report but one. */
  boolean isActive() {
    return peak > 0 || waiting;
  }

  /** Returns whether it did not use all of its share. */
  boolean isSatisfied() {
    return peak < share;
  }

  NodeState granted(int next, boolean acknowledged) {
    boolean isChanged = generation == 0 || next != share;
    long nextGeneration = isChanged ? generation % FleetState.MAX_NUMBER + 1 : generation;
    int most = acknowledged ? Math.max(mayApply, next) : next;
    return new NodeState(
        localLimit,
        sampled,
        inFlight,
        peak,
        waiting,
        next,
        nextGeneration,
        most,
        sequence,
        untilMillis,
        permitMillis,
        left,
        digests);
  }

  NodeState withoutDigests() {
    return new NodeState(
        localLimit,
        sampled,
        inFlight,
        peak,
        waiting,
        share,
        generation,
        mayApply,
        sequence,
        untilMillis,
        permitMillis,
        left,
        List.of());
  }

  /** Returns what stays of a node whose lease has ended. */
  NodeState remnant() {
    return left ? this : departed(reserved(), untilMillis + permitMillis);
  }

  /** Returns this one, which is no member any more, with fewer requests; null if none are left. */
  @Nullable NodeState lowered(int permits) {
    if (permits <= 0) {
      return this;
    }
    return permits >= inFlight ? null : departed(inFlight - permits, untilMillis);
  }

  NodeState departed(int remaining, long until) {
    int reserved = Math.min(remaining, reserved());
    return new NodeState(
        localLimit,
        false,
        reserved,
        0,
        false,
        0,
        generation,
        0,
        sequence,
        reserved == 0 ? untilMillis : Math.max(until, untilMillis),
        permitMillis,
        true,
        List.of());
  }
}
