package io.throttlekit.envoy.xds;

import io.throttlekit.share.Acknowledgements;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Divides concurrency limits among the Envoys of all replicas, on the replica that steers.
 *
 * <p>Envoys are identified by their node ids: streams with the same id divide its share, whichever
 * replicas they are on. {@link io.throttlekit.share.LimitShares} defines how a limit is divided,
 * and its guarantees, under two conditions: a plan is applied by {@link LimitServer}s only after it
 * was published, and one that succeeds another steering replica starts from the newest plan.
 *
 * <p>Not thread-safe: for one thread at a time. Times are monotonic ns.
 */
public final class LimitDivision {
  private LimitDivision() {}

  /**
   * Continues from the last plan. All parts in it are reserved, and are without a stream until a
   * replica reports one; the hold begins anew. Numbers of plans continue above {@code last}, and
   * above any that an earlier epoch may have used and that were lost.
   *
   * @param last newest plan that is known; {@link SharePlan#EMPTY} for none
   * @param epoch of the lease of the steering replica
   * @param settings of which the lease and the turn are used
   * @param listener notified of acknowledged limits, during {@link #round}
   */
  public static LimitDivision from(
      SharePlan last,
      long epoch,
      LimitServerSettings settings,
      LimitServerListener listener,
      long nowNanos) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Sets a concurrency limit, new or changed, from the next {@link #round} on.
   *
   * @param requests limit for all Envoys together, from 0, which refuses everything
   * @throws IllegalArgumentException when it is negative
   */
  public void offer(ClusterLimit limit, int requests) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Removes a limit: Envoys then apply the threshold of their bootstraps. */
  public void withdraw(ClusterLimit limit) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the limits, those of the last plan included. */
  public Set<ClusterLimit> limits() {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Records the streams of a replica.
   *
   * @param streams all of them; replaces the list that the replica reported before
   */
  public void reported(String replica, List<StreamState> streams, long nowNanos) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Records that a replica is gone. Its Envoys may still apply their shares, which stay reserved
   * for the lease, whatever they report to be in flight.
   */
  public void gone(String replica) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Records the demand that an Envoy reports; see {@link
   * io.throttlekit.share.LimitShares#reported}.
   */
  public void demand(
      ClusterLimit limit, String node, long inFlight, long refused, long nowNanos) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Divides the limits again. Returns the plan to publish: the same object as before if nothing but
   * demand has changed.
   */
  public SharePlan round(long nowNanos) {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Returns how many requests each Envoy may have in flight by its shares, by node id; an id that
   * is not in it has no share. Empty for an unknown limit.
   */
  public Map<String, Long> reserved(ClusterLimit limit) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns how much of a limit is acknowledged; null for an unknown limit. */
  public @Nullable Acknowledgements acknowledgements(ClusterLimit limit) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the number of streams that replicas report. */
  public int streams() {
    throw new UnsupportedOperationException("skeleton");
  }
}
