package io.throttlekit.service.warmup;

import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.store.SharedStore;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.traces.DecisionTracing;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to a service like this one until the JVM has compiled a request's path.
 *
 * <p>It starts over several times with a new server and empty counters, as the first real requests
 * find them, and waits for the compilers each time, so that they are idle when real requests come
 * (docs/adr/0004). The requests go over their own plaintext loopback port to their own store,
 * policies and metrics; those of the service are not touched.
 */
public final class WarmUp {
  /** Maximum duration of a warm-up with the default number of requests. */
  static final Duration MAX_TIME = Duration.ofSeconds(7);

  /** The default number of requests, of {@code warm_up.requests}. */
  private static final int DEFAULT_REQUESTS = ConfigLoader.defaults().warmUp().requests();

  /** Requests after which a new server with empty counters starts. */
  private static final int REQUESTS_PER_SERVER = 10_000;

  /** Maximum of counters, fewer than the traffic has, so that some are evicted, too. */
  private static final long COUNTERS = 2_000;

  private final ServiceConfig config;
  private final boolean traced;
  private final boolean shared;
  private final TimeSource time;
  private final WarmUpRound visit;

  /**
   * Creates a warm-up of a service configured like {@code config}.
   *
   * @param stopped reaches zero when the warm-up shall stop
   */
  public WarmUp(ServiceConfig config, TimeSource time, CountDownLatch stopped) {
    this.config = ScratchConfig.of(config, WarmUpRound.LARGEST_BURST);
    this.shared = !config.store().address().inMemory() || config.federation() != null;
    this.traced = config.telemetry().tracing();
    this.time = time;
    this.visit = new WarmUpRound(time, stopped);
  }

  /** Runs the warm-up; returns the number of answered requests. */
  public int run() {
    int requests = config.warmUp().requests();
    if (requests == 0) {
      return 0;
    }
    long end = time.monotonicNanos() + longest(requests).toNanos();
    PolicyStore policies = visit.policies(Traffic.policies(shared));
    Traffic traffic = new Traffic(config.extAuthz() != null);
    int answered = 0;
    while (answered < requests && visit.mayGoOn(end)) {
      int most = Math.min(REQUESTS_PER_SERVER, requests - answered);
      int round = serve(policies, traffic, most, end);
      answered += round;
      if (round < most) { // the time is up, or the server has sent GOAWAY
        break;
      }
      visit.awaitCompilers(end);
    }
    return answered;
  }

  /**
   * Returns the maximum duration, proportional to the requests beyond the default, such as those of
   * the AOT cache's training in bin/throttlekit.
   */
  static Duration longest(int requests) {
    return MAX_TIME.multipliedBy(Math.max(1, requests / DEFAULT_REQUESTS));
  }

  private int serve(PolicyStore policies, Traffic traffic, int requests, long end) {
    InMemoryStore counters = new InMemoryStore(time, COUNTERS);
    try (Telemetry telemetry = Telemetry.start(config.telemetry());
        Tiers tiers = shared ? tiers(counters) : null) {
      MeasuredPath measured =
          tiers == null
              ? MeasuredPath.inMemory(config, policies, counters, telemetry, time)
              : MeasuredPath.shared(config, policies, tiers, telemetry, time, null, null);
      GrpcServer server = measured.path().server(config.grpc(), new Health(), tracing());
      return visit.round(server, traffic.callers(), requests, end);
    }
  }

  /** Returns tiers like the service's, over counters in memory that are not shared. */
  private Tiers tiers(InMemoryStore counters) {
    TierSettings settings = SharedStore.tierSettings(config.store());
    return new Tiers(counters, time, (_, _) -> {}, settings, TierListener.NONE);
  }

  /** Returns tracing as configured, but without recording; null if it is off. */
  private @Nullable DecisionTracing tracing() {
    return traced ? DecisionTracing.on(TracerProvider.noop().get("warm-up"), 0) : null;
  }
}
