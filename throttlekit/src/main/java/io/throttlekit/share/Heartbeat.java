package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import org.jspecify.annotations.Nullable;

/**
 * What a node reports of itself, read at one instant. Numbers out of range are clamped, because
 * they may come from another release or from a broken host.
 *
 * @param key of the concurrency limit, the same on all nodes
 * @param node id of the node. Incarnations distinguish nodes with one id
 * @param incarnation random number of a period in which the node holds a lease; never used again.
 *     Its upper 32 bits are the same for all limits and periods of a process
 * @param sequence number of this heartbeat in its incarnation, from 1; a first one joins the fleet.
 *     The second one must not overtake it, or it is answered as evicted
 * @param localLimit the node's own concurrency limit, from 1
 * @param sampled whether the node has had samples since its last heartbeat; if not, its limit has
 *     no vote
 * @param inFlight requests in flight, from 0
 * @param peak the most requests in flight since the last heartbeat
 * @param refused requests refused since the last heartbeat, from 0
 * @param acknowledged generation of the latest share that the node applies; 0 if none
 * @param leaseMillis how long the share is the node's from the arrival of this heartbeat, from 1
 * @param permitMillis how long a request that this node admitted may last after the lease, if the
 *     node dies; 0 if its requests end with it
 * @param publication limit that this node computed as the steering one; null if it computed none
 * @param digest samples since the last digest; null if there are none
 */
public record Heartbeat(
    String key,
    String node,
    long incarnation,
    long sequence,
    int localLimit,
    boolean sampled,
    int inFlight,
    int peak,
    long refused,
    long acknowledged,
    long leaseMillis,
    long permitMillis,
    @Nullable Publication publication,
    @Nullable SampleDigest digest) {

  /** The most of a limit, and of the requests in flight: sums of them are far from overflow. */
  static final int MAX_REQUESTS = SampleDigest.MAX_REQUESTS;

  /** The longest lease, which bounds how long a node that has died keeps its share. */
  static final long MAX_LEASE_MILLIS = 3_600_000;

  /** The longest time to live of requests, a day. */
  static final long MAX_PERMIT_MILLIS = 86_400_000;

  /** Clamps the numbers. */
  public Heartbeat {
    localLimit = Math.clamp(localLimit, 1, MAX_REQUESTS);
    inFlight = Math.clamp(inFlight, 0, MAX_REQUESTS);
    peak = Math.clamp(peak, inFlight, MAX_REQUESTS);
    refused = Math.clamp(refused, 0L, MAX_REQUESTS);
    leaseMillis = Math.clamp(leaseMillis, 1L, MAX_LEASE_MILLIS);
    permitMillis = Math.clamp(permitMillis, 0L, MAX_PERMIT_MILLIS);
  }

  /**
   * A limit that the steering node computed.
   *
   * @param epoch of the steering lease under which it was computed
   * @param limit from 1; clamped
   * @param frequent whether all nodes are to send heartbeats at their least interval for now
   */
  public record Publication(long epoch, int limit, boolean frequent) {
    /** Clamps the limit. */
    public Publication {
      limit = Math.clamp(limit, 1, MAX_REQUESTS);
    }

    /** Creates a limit without a call for frequent heartbeats. */
    public Publication(long epoch, int limit) {
      this(epoch, limit, false);
    }
  }
}
