package io.throttlekit.envoy.xds;

import io.throttlekit.steering.Acknowledgements;
import io.throttlekit.steering.LimitShares;
import io.throttlekit.steering.LimiterState;
import io.throttlekit.steering.SteeringExchange;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides concurrency limits among the Envoys of all replicas, on the replica that steers.
 *
 * <p>Envoys are identified by their node ids: streams with the same id divide its share, whichever
 * replicas they are on. {@link LimitShares} defines how a limit is divided, and its guarantees,
 * under two conditions: a plan is applied by {@link LimitServer}s only after it was published, and
 * a division that succeeds another one starts from the newest plan.
 *
 * <p>A stream with a new token comes from an Envoy that is new or has restarted. If there is a part
 * of its node id without a stream, the new one succeeds it; not yet in the first seconds, if the
 * part is of the plan before and its replica may not have reported its stream yet.
 *
 * <p>Not thread-safe: for one thread at a time. Times are monotonic ns.
 */
public final class LimitDivision {
  private static final Logger LOG = LoggerFactory.getLogger(LimitDivision.class);

  /**
   * Numbers of an epoch, which are wall-clock ms, begin at its multiple: above all that were used
   * before it, the lost ones included, as long as there are fewer rounds than this per ms.
   */
  private static final long NUMBERS_PER_EPOCH = 1 << 10;

  private static final long MAX_EPOCH = 1L << 43; // 2^53 / NUMBERS_PER_EPOCH

  /** Estimated length of a share in the text of a plan, with demand. */
  private static final int SHARE_LENGTH = 40;

  /** Estimated length of all parts, at most: some room is kept for longer ones. */
  private static final long MAX_LENGTH = SteeringExchange.MAX_RECORD / 4 * 3;

  /** How long a replica may take to report its streams; later it is gone. */
  private static final long REPORTED_NANOS = 3_000_000_000L;

  private final LimitServerSettings settings;
  private final LimitServerListener listener;
  private final long lastNumber;
  private final long firstNumber;
  private final Map<ClusterLimit, OfferedLimit> limits =
      new TreeMap<>(Comparator.comparing(ClusterLimit::runtimeKey));
  private final ReportedStreams streams = new ReportedStreams();

  /** Node ids of all parts that have a stream or a share, by name. */
  private final NavigableMap<String, String> parts = new TreeMap<>();

  /** Names of the last plan's parts of which no replica has reported a stream. */
  private final Set<String> unreported = new HashSet<>();

  private final long beganNanos;

  private SharePlan plan;
  private long number;
  private long length;
  private boolean wasFull;

  private LimitDivision(
      SharePlan last,
      long epoch,
      LimitServerSettings settings,
      LimitServerListener listener,
      long nowNanos) {
    this.beganNanos = nowNanos;
    this.settings = settings;
    this.listener = listener;
    this.plan = last;
    this.lastNumber = last.number();
    this.firstNumber = Math.max(lastNumber + 1, epoch < MAX_EPOCH ? epoch * NUMBERS_PER_EPOCH : 0);
    this.number = firstNumber - 1;
  }

  /**
   * Continues from the last plan. All parts in it are reserved, and are without a stream until a
   * replica reports one; the lease of their shares begins anew. Numbers of plans continue above
   * {@code last}, and above any of an earlier epoch that were lost.
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
    LimitDivision division = new LimitDivision(last, epoch, settings, listener, nowNanos);
    last.limits().forEach(division::offer);
    for (SharePlan.Part part : last.parts()) {
      String name = StreamState.name(part.node(), part.token());
      division.parts.put(name, part.node());
      division.unreported.add(name);
      part.shares()
          .forEach((limit, state) -> {
            OfferedLimit offered = division.limits.get(limit);
            if (offered != null) {
              offered.shares.restored(name, part.node(), state, nowNanos);
            }
          });
    }
    return division;
  }

  /**
   * Sets a concurrency limit, new or changed, from the next {@link #round} on.
   *
   * @param requests limit for all Envoys together, from 0, which refuses everything
   * @throws IllegalArgumentException when it is negative
   */
  public void offer(ClusterLimit limit, int requests) {
    OfferedLimit offered = limits.get(limit);
    if (offered == null) {
      LimitShares shares =
          new LimitShares(
              requests, settings.lease().toNanos(), settings.turn().toNanos(), lastNumber);
      limits.put(limit, new OfferedLimit(shares));
    } else {
      offered.shares.limit(requests);
    }
  }

  /** Removes a limit: Envoys then apply the threshold of their bootstraps. */
  public void withdraw(ClusterLimit limit) {
    limits.remove(limit);
  }

  /** Returns the limits, those of the last plan included. */
  public Set<ClusterLimit> limits() {
    return Collections.unmodifiableSet(limits.keySet());
  }

  /**
   * Records the streams of a replica. A part without a stream on any replica keeps its share for
   * the lease, whatever demand its Envoy reports: the next request is admitted by that share.
   *
   * @param reported all streams; replaces what the replica reported before
   */
  public void reported(String replica, List<StreamState> reported, long nowNanos) {
    streams.replace(replica, reported, stream -> read(stream, nowNanos));
  }

  /**
   * Records that a replica is gone. Its Envoys may still apply their shares, which stay reserved
   * for the lease.
   */
  public void gone(String replica) {
    streams.remove(replica);
  }

  /**
   * Records that an Envoy sent a report or a log entry: if it has no stream, for example because
   * its replica hangs, it still applies its shares, and their leases begin anew.
   *
   * @param atNanos when the report arrived
   */
  public void seen(String node, long atNanos) {
    limits.values().forEach(offered -> offered.shares.seen(node, atNanos));
  }

  /** Records the demand that an Envoy reports; see {@link LimitShares#reported}. */
  public void demand(ClusterLimit limit, String node, long inFlight, long refusals, long nowNanos) {
    OfferedLimit offered = limits.get(limit);
    if (offered != null) {
      offered.shares.reported(node, inFlight, refusals, nowNanos);
    }
  }

  /**
   * Divides the limits again. To be called after changes, and a few times in each lease and turn.
   *
   * @return the plan to publish; the same object as before if nothing but demand has changed
   */
  public SharePlan round(long nowNanos) {
    number++;
    length = parts.keySet().stream().mapToInt(String::length).sum();
    length += (long) SHARE_LENGTH * limits.size() * parts.size();
    streams.drainDeparted(
        name -> limits.values().forEach(offered -> offered.shares.left(name, nowNanos)));
    streams.live().forEach((name, stream) -> join(name, stream, nowNanos));
    for (OfferedLimit offered : limits.values()) {
      offered.shares.due(nowNanos, number);
      offered.look(nowNanos); // a round also ends reservations of parts without a stream
    }
    SharePlan next = current();
    if (!next.hasSharesOf(plan)) {
      plan = next;
    }
    limits.forEach((limit, offered) -> offered.notify(limit, listener));
    return plan;
  }

  /**
   * Returns how many requests each Envoy may have in flight by its shares, by node id; an id that
   * is not in it has no share. Empty for an unknown limit.
   */
  public Map<String, Long> reserved(ClusterLimit limit) {
    OfferedLimit offered = limits.get(limit);
    return offered == null ? Map.of() : offered.shares.reservedById();
  }

  /** Returns how much of a limit is acknowledged; null for an unknown limit. */
  public @Nullable Acknowledgements acknowledgements(ClusterLimit limit) {
    OfferedLimit offered = limits.get(limit);
    return offered == null ? null : offered.shares.acknowledgements();
  }

  /** Returns the number of streams on all replicas. */
  public int streams() {
    return streams.count();
  }

  /** Returns the number of node ids with several streams, on all replicas. */
  public int sharedNodes() {
    return streams.sharedNodes();
  }

  private void read(StreamState stream, long nowNanos) {
    unreported.remove(stream.name());
    // A plan between the last one known and the first one of this division is lost.
    boolean ofLostPlan = stream.sent() > lastNumber && stream.sent() < firstNumber;
    limits.forEach((limit, offered) -> {
      offered.shares.acknowledged(stream.name(), stream.acknowledged());
      if (ofLostPlan) {
        offered.shares.reserve(stream.name(), stream.mayApply().getOrDefault(limit, 0));
      }
      offered.look(nowNanos);
    });
  }

  private void join(String name, StreamState stream, long nowNanos) {
    if (!parts.containsKey(name)) {
      String predecessor = withoutStream(stream.node());
      if (predecessor != null
          && unreported.contains(predecessor)
          && nowNanos - beganNanos < REPORTED_NANOS) {
        return; // two Envoys would apply one share
      }
      if (predecessor != null) {
        unreported.remove(predecessor);
        parts.remove(predecessor);
        limits.values().forEach(offered -> offered.shares.succeeded(predecessor, name));
      } else if (isFull(name)) {
        return;
      }
      parts.put(name, stream.node());
    }
    limits.forEach((limit, offered) ->
        offered.shares.joined(name, stream.node(), stream.mayApply().getOrDefault(limit, 0)));
  }

  /** Returns a part of a node id that has no stream; null if there is none. */
  private @Nullable String withoutStream(String node) {
    for (Map.Entry<String, String> part : parts.tailMap(StreamState.name(node, "")).entrySet()) {
      if (!part.getValue().equals(node)) {
        return null;
      }
      if (!streams.live().containsKey(part.getKey())) {
        return part.getKey();
      }
    }
    return null;
  }

  /** Returns whether the text of the plan has no room for another part. */
  private boolean isFull(String name) {
    long more = name.length() + (long) SHARE_LENGTH * limits.size();
    if (length + more <= MAX_LENGTH) {
      length += more;
      return false;
    }
    if (!wasFull) { // not for each Envoy in each round
      LOG.warn("the plan has no room for more than {} Envoys: others have no share", parts.size());
      wasFull = true;
    }
    return true;
  }

  private SharePlan current() {
    Map<ClusterLimit, Integer> values = new LinkedHashMap<>();
    Map<String, Map<ClusterLimit, LimiterState>> shares = new TreeMap<>();
    limits.forEach((limit, offered) -> {
      values.put(limit, offered.shares.limit());
      offered
          .shares
          .snapshot()
          .forEach((name, state) ->
              shares.computeIfAbsent(name, _ -> new LinkedHashMap<>()).put(limit, state));
    });
    parts.keySet().removeIf(name -> !shares.containsKey(name) && !streams.live().containsKey(name));
    Map<String, SharePlan.Part> all = LinkedHashMap.newLinkedHashMap(shares.size());
    shares.forEach((name, held) -> {
      String node = name.substring(0, name.indexOf('\n'));
      all.put(name, new SharePlan.Part(node, name.substring(node.length() + 1), held));
    });
    return new SharePlan(number, values, all);
  }
}
