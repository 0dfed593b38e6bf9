package io.throttlekit.service.telemetry;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.MemoryCounters;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.Fleet;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.DecisionPath;
import io.throttlekit.service.server.PathListeners;
import io.throttlekit.service.telemetry.fairness.FairMetrics;
import io.throttlekit.service.telemetry.refusals.RecentRefusals;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Counters;
import io.throttlekit.tier.Tiers;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A decision path whose listeners are metrics.
 *
 * @param metrics of its decisions
 * @param refusals the keys that it refuses most
 * @param limits receives the events of the concurrency limits
 */
public record MeasuredPath(
    DecisionPath path,
    RateLimitMetrics metrics,
    RecentRefusals refusals,
    ConcurrencyListener limits) {

  /** Returns a path that decides by {@code policies} on counters in this process's memory. */
  public static MeasuredPath inMemory(
      ServiceConfig config,
      PolicyStore policies,
      InMemoryStore counters,
      Telemetry telemetry,
      TimeSource time) {
    RateLimitMetrics metrics =
        metrics(config, policies, telemetry, counters::size, counters::forgotten);
    return of(new MemoryCounters(counters), config, policies, metrics, telemetry, time, null, null);
  }

  /**
   * Returns a path that decides by {@code policies} on shared counters.
   *
   * @param loops the event loops that serve, if the store needs them; otherwise null
   * @param fleet the replicas that share its concurrency limits; null if none do
   */
  public static MeasuredPath shared(
      ServiceConfig config,
      PolicyStore policies,
      Tiers tiers,
      Telemetry telemetry,
      TimeSource time,
      @Nullable EventLoopGroup loops,
      @Nullable Fleet fleet) {
    RateLimitMetrics metrics = metrics(config, policies, telemetry, tiers::cells, () -> 0);
    return of(tiers, config, policies, metrics, telemetry, time, loops, fleet);
  }

  private static MeasuredPath of(
      Counters counters,
      ServiceConfig config,
      PolicyStore policies,
      RateLimitMetrics metrics,
      Telemetry telemetry,
      TimeSource time,
      @Nullable EventLoopGroup loops,
      @Nullable Fleet fleet) {
    ConcurrencyMetrics limits = new ConcurrencyMetrics(telemetry.meter(), time);
    CheckMetrics checks = config.extAuthz() == null ? null : new CheckMetrics(telemetry.meter());
    FairMetrics fair = new FairMetrics(telemetry.meter(), policies::book, time, metrics);
    RecentRefusals decisions =
        RecentRefusals.of(time, config.telemetry().refusalLogInterval(), fair);
    PathListeners listeners = new PathListeners(decisions, metrics, checks, limits);
    DecisionPath path = DecisionPath.of(config, policies, counters, listeners, time, loops, fleet);
    limits.show(path.limiter());
    return new MeasuredPath(path, metrics, decisions, limits);
  }

  private static RateLimitMetrics metrics(
      ServiceConfig config,
      PolicyStore policies,
      Telemetry telemetry,
      LongSupplier counters,
      LongSupplier evicted) {
    return new RateLimitMetrics(
        telemetry.meter(),
        policies::book,
        counters,
        evicted,
        config.telemetry().nearLimitRatio(),
        config.telemetry().maxSeries());
  }
}
