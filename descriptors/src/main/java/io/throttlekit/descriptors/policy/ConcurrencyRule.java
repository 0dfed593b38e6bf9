package io.throttlekit.descriptors.policy;

import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.OnOutage;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Concurrency limit of a rule: the limit algorithm, its range, and where requests are limited.
 *
 * <p>None of it is part of the identity of a limiter, which is {@link Rule#limiterScope()} and the
 * {@link Rule#chargedEntries} of the request. A changed algorithm or range keeps the count of
 * requests in flight.
 *
 * @param algorithm limit algorithm
 * @param range bounds and initial value of the limit
 * @param failsafe parameters of the algorithm {@link LimitAlgorithm#FAILSAFE}; null for its
 *     defaults
 * @param recalibration measurements of the latency without load by {@link LimitAlgorithm#GRADIENT2}
 *     and {@link LimitAlgorithm#AIMD}; null for none
 * @param gate limiter that holds requests back from the backend
 */
public record ConcurrencyRule(
    LimitAlgorithm algorithm,
    LimitRange range,
    FailsafeLimit.@Nullable Settings failsafe,
    @Nullable Recalibration recalibration,
    Gate gate) {

  /** Limit algorithms, each with the range that applies where the policy gives none. */
  // Ranges are the defaults of Netflix's concurrency-limits and of Failsafe; ours has Vegas's.
  public enum LimitAlgorithm {
    /** The requests in service by Little's law, and a short queue; measures its baseline. */
    PROBED_VEGAS(1, 1_000),
    /** The gradient of recent and long latencies. */
    GRADIENT2(20, 200),
    /** Estimates the queue length from the ratio of the recent to the lowest latency. */
    VEGAS(1, 1_000),
    /** Additive increase, multiplicative decrease. */
    AIMD(20, 200),
    /** Quantiles of recent latencies against a baseline, and the correlation with throughput. */
    FAILSAFE(1, 200);

    private static final int INITIAL = 20; // the initial limit of concurrency-limits and Failsafe

    private final int min;
    private final int max;

    LimitAlgorithm(int min, int max) {
      this.min = min;
      this.max = max;
    }

    /** Returns the default minimum, for a policy that gives neither bound. */
    public int min() {
      return min;
    }

    /** Returns the minimum for a policy that gives only the maximum: at most half of that. */
    public int minBelow(int written) {
      return Math.clamp(written / 2, 1, min);
    }

    /** Returns the default maximum, for a policy that gives neither bound. */
    public int max() {
      return max;
    }

    /** Returns the maximum for a policy that gives only the minimum: at least twice that. */
    public int maxAbove(int written, int most) {
      return (int) Math.min(most, Math.max(max, 2L * written)); // 2L: twice an int can overflow
    }

    /** Returns the initial limit where the policy gives none: 20, clamped to the range. */
    public int initial(int least, int most) {
      return Math.clamp(INITIAL, least, most);
    }

    /** Returns the algorithm's name in the policy language. */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Returns whether a limit of the other rule can go on under this one: its algorithm, parameters
   * and range are the same.
   */
  public boolean hasAlgorithmOf(ConcurrencyRule other) {
    return algorithm == other.algorithm
        && range.equals(other.range)
        && Objects.equals(failsafe, other.failsafe)
        && Objects.equals(recalibration, other.recalibration);
  }

  /** Returns this rule with another gate. */
  public ConcurrencyRule withGate(Gate other) {
    return new ConcurrencyRule(algorithm, range, failsafe, recalibration, other);
  }

  /** Place where requests are limited. */
  public sealed interface Gate {}

  /**
   * Limiting by the service: each request acquires a permit, and waits or is refused when none is
   * free.
   *
   * @param lease how permits end
   * @param queue bounds of the queue; null for no queue
   * @param priorityEntry key of an entry that names the priority of the request, or null
   * @param userEntry key of an entry that names the user, by whose recent usage requests get their
   *     level within a priority; null for random levels
   * @param prioritizer name of the prioritizer, which all limits of the domain that name it share;
   *     null for one of its own. Not null only with a priority entry, as is {@code userEntry}
   * @param fleet how the replicas share the limit where they have a shared store
   */
  public record AtService(
      LeaseTerms lease,
      @Nullable WaitingRoom queue,
      @Nullable String priorityEntry,
      @Nullable String userEntry,
      @Nullable String prioritizer,
      FleetTerms fleet)
      implements Gate {}

  /**
   * Limiting by every Envoy: the limit is pushed to them as a circuit breaker's {@code
   * max_requests}.
   *
   * @param cluster Envoy cluster whose {@code max_requests} is set
   * @param highPriority whether to set the circuit breaker for high priority instead of the default
   */
  public record AtEnvoys(String cluster, boolean highPriority) implements Gate {}

  /**
   * Terms of a permit.
   *
   * @param ttlMillis milliseconds after which a permit without a reported end expires, from 1
   * @param release event that releases the permit
   */
  public record LeaseTerms(long ttlMillis, Release release) {}

  /**
   * How the replicas of the service share one limit.
   *
   * @param coordination how they agree on it and divide it
   * @param onOutage what a replica does while the store does not answer
   */
  public record FleetTerms(Coordination coordination, OnOutage onOutage) {
    /** The default: one algorithm over all samples, shares by demand, which end with the store. */
    public static final FleetTerms DEFAULT =
        new FleetTerms(Coordination.DEFAULT, OnOutage.FAIL_CLOSED);

    private void append(StringBuilder words) {
      words.append(", shared by replicas (").append(word(coordination.aggregate()));
      words
          .append(", by ")
          .append(coordination.allocation() == Allocation.DEMAND ? "demand" : "equal parts");
      words.append(onOutage == OnOutage.LOCAL_ONLY ? ", each alone in an outage)" : ")");
    }

    private static String word(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT);
    }
  }

  /** Event that marks the end of a request. */
  public enum Release {
    /** A call of Envoy's rate limit filter when the stream is done. */
    STREAM_DONE,
    /** The request's entry in the access log. */
    ACCESS_LOG
  }

  /**
   * Bounds of the queue, in multiples of the concurrency limit.
   *
   * @param initial queue length from which some requests are refused, from 1
   * @param max queue length from which all requests are refused, at least {@code initial}
   */
  public record WaitingRoom(double initial, double max) {}

  /**
   * Describes the limit for people: {@code 4 to 500 in flight (probed_vegas, from 20), refused by
   * the service}.
   */
  String inWords() {
    StringBuilder words = new StringBuilder();
    words.append(range.min()).append(" to ").append(range.max()).append(" in flight (");
    words.append(algorithm.id()).append(failsafe == null ? "" : " with its own parameters");
    words.append(", from ").append(range.initial());
    if (recalibration != null) {
      long interval = TimeUnit.NANOSECONDS.toMillis(recalibration.intervalNanos());
      words.append(", recalibrated every ").append(WindowText.of(interval));
      words.append(" at ").append(recalibration.probeLimit());
    }
    words.append("), ");
    switch (gate) {
      case AtEnvoys envoys ->
          words
              .append("pushed to Envoys for cluster ")
              .append(envoys.cluster())
              .append(envoys.highPriority() ? " (high priority)" : "");
      case AtService service -> append(words, service);
    }
    return words.toString();
  }

  private static void append(StringBuilder words, AtService service) {
    LeaseTerms lease = service.lease();
    words.append("with a lease for each request until ");
    words.append(lease.release() == Release.STREAM_DONE ? "its stream is done" : "it is logged");
    words.append(", at most ").append(WindowText.of(lease.ttlMillis()));
    WaitingRoom queue = service.queue();
    if (queue != null) {
      words.append(", a queue of ").append(factor(queue.initial()));
      words.append(" to ").append(factor(queue.max())).append(" times the limit");
    }
    if (service.priorityEntry() != null) {
      words.append(", by priority of entry ").append(service.priorityEntry());
    }
    if (service.userEntry() != null) {
      words.append(" and usage of entry ").append(service.userEntry());
    }
    if (service.prioritizer() != null) {
      words.append(" with prioritizer ").append(service.prioritizer());
    }
    if (!service.fleet().equals(FleetTerms.DEFAULT)) {
      service.fleet().append(words);
    }
  }

  private static String factor(double factor) {
    return factor == Math.rint(factor) ? Long.toString((long) factor) : Double.toString(factor);
  }
}
