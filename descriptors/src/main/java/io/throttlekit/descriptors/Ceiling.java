package io.throttlekit.descriptors;

import io.throttlekit.concurrency.CeilingRange;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How a rule finds out how many requests may be in flight at once, and who keeps to it.
 *
 * <p>None of it belongs to the identity of a ceiling, which is {@link Rule#ceilingScope()} and the
 * {@link Rule#chargedEntries} of the request: another law or other numbers keep what is in flight.
 *
 * @param law decides the ceiling
 * @param range where the ceiling may be, and where it begins
 * @param gate keeps requests from the backend
 */
public record Ceiling(Law law, CeilingRange range, Gate gate) {

  /** What infers a ceiling, and the range of those that say nothing of it. */
  public enum Law {
    /** Vegas with a baseline that is frozen while saturated, and probed for. */
    PROBED_VEGAS(1, 1_000),
    /** The gradient of recent and long latencies. */
    GRADIENT2(20, 200),
    /** The length of the queue that latencies above the best one speak of. */
    VEGAS(1, 1_000),
    /** Additive increase, multiplicative decrease. */
    AIMD(20, 200),
    /** Quantiles of recent latencies against a baseline, and the correlation with throughput. */
    FAILSAFE(1, 200);

    private static final int INITIAL = 20;

    private final int min;
    private final int max;

    Law(int min, int max) {
      this.min = min;
      this.max = max;
    }

    /** The smallest ceiling where the policy says none. */
    int min() {
      return min;
    }

    /** The smallest ceiling where the policy says only the largest: half of that at most. */
    int minBelow(int written) {
      return Math.clamp(written / 2, 1, min);
    }

    /** The largest ceiling where the policy says none. */
    int max() {
      return max;
    }

    /** The largest ceiling where the policy says only the smallest: twice that at least. */
    int maxAbove(int written, int most) {
      return (int) Math.min(most, Math.max(max, 2L * written));
    }

    /** Where it begins if the policy does not say: as near to 20 as the range allows. */
    int initial(int least, int most) {
      return Math.clamp(INITIAL, least, most);
    }

    /** The word of the policy language. */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Who keeps to the ceiling. */
  public sealed interface Gate {}

  /**
   * The service: each request takes a lease, and is refused or waits when there is none.
   *
   * @param lease how leases end
   * @param queue who may wait; nobody if null
   * @param priorityEntry key of an entry that names the priority of the request, or null
   */
  public record AtService(
      LeaseTerms lease, @Nullable WaitingRoom queue, @Nullable String priorityEntry)
      implements Gate {}

  /**
   * Every Envoy: the ceiling is pushed to them.
   *
   * @param cluster of Envoy, whose {@code max_requests} is steered
   * @param highPriority whether it is that of the cluster's circuit breaker for high priority
   */
  public record AtEnvoys(String cluster, boolean highPriority) implements Gate {}

  /**
   * How a lease ends.
   *
   * @param ttlMillis when nobody said for so long that its request has ended, from 1
   * @param release what says so
   */
  public record LeaseTerms(long ttlMillis, Release release) {}

  /** What says that a request has ended. */
  public enum Release {
    /** A call of Envoy's rate limit filter when the stream is done. */
    STREAM_DONE,
    /** The request's entry in the access log. */
    ACCESS_LOG
  }

  /**
   * How many requests may wait, in multiples of the ceiling.
   *
   * @param initial from so many on, some are refused, from 1
   * @param max from so many on, all are, at least {@code initial}
   */
  public record WaitingRoom(double initial, double max) {}

  /** For people: {@code 4 to 500 in flight (probed_vegas, from 20), refused by the service}. */
  String inWords() {
    StringBuilder words = new StringBuilder();
    words.append(range.min()).append(" to ").append(range.max()).append(" in flight (");
    words.append(law.id()).append(", from ").append(range.initial()).append("), ");
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
      words.append(" to ").append(factor(queue.max())).append(" ceilings");
    }
    if (service.priorityEntry() != null) {
      words.append(", by priority of entry ").append(service.priorityEntry());
    }
  }

  private static String factor(double factor) {
    return factor == Math.rint(factor) ? Long.toString((long) factor) : Double.toString(factor);
  }
}
