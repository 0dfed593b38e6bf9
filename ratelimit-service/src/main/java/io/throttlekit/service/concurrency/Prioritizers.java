package io.throttlekit.service.concurrency;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.throttlekit.TimeSource;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.UsageTracker;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The prioritizers of the concurrency limits: one for all limits of a domain that name the same,
 * and one for each other limit. A named one is kept at least as long as a limit uses it.
 * Thread-safe.
 */
final class Prioritizers {
  /** Time over which usage is summed: a burst is forgotten after it. */
  private static final long USAGE_NANOS = TimeUnit.MINUTES.toNanos(1);

  // bounds memory: users are values of requests
  private static final int MAX_USERS = 1_000;

  private final TimeSource time;
  private final ConcurrencyListener listener;

  /** Weak: limits refer to theirs. Runnable::run: no work in the common pool. */
  private final Cache<Name, Prioritizer> named =
      Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

  /** By domain, so that the requests of one do not shed those of another. */
  private record Name(String domain, String name) {}

  Prioritizers(TimeSource time, ConcurrencyListener listener) {
    this.time = time;
    this.listener = listener;
  }

  /**
   * Returns the prioritizer of a limit, which is new unless another limit shares it; null if the
   * limit ranks no requests.
   */
  @Nullable Prioritizer of(String domain, @Nullable PriorityTerms terms) {
    if (terms == null) {
      return null;
    }
    String name = terms.prioritizer();
    // limits that share one need not all name a user, so a named one always tracks usage
    return name == null
        ? create(terms.userEntry() != null)
        : named.get(new Name(domain, name), _ -> create(true));
  }

  /** Calibrates the named prioritizers; returns whether one of them refuses any level. */
  boolean calibrateNamed() {
    boolean any = false;
    for (Prioritizer each : named.asMap().values()) {
      each.calibrate();
      any |= each.threshold() > 0;
    }
    return any;
  }

  private Prioritizer create(boolean usage) {
    return new Prioritizer(
        () -> ThreadLocalRandom.current().nextDouble(),
        listener::thresholdChanged,
        usage ? new UsageTracker(time, USAGE_NANOS, MAX_USERS) : null);
  }
}
