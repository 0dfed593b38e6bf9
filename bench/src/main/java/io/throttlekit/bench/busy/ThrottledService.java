package io.throttlekit.bench.busy;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The real service on one event loop and a loopback port, over a {@link SlowStore}. */
final class ThrottledService implements AutoCloseable {
  private static final String POLICIES =
      """
      domain: busy
      descriptors:
        - {key: user, rate_limit: {unit: hour, requests_per_unit: 1000000000}}
      """;

  private final Telemetry telemetry;
  private final SlowStore store;
  private final Tiers tiers;
  private final GrpcServer server;

  /** Starts a service that decides at most {@code perSecond} requests in a second. */
  ThrottledService(int perSecond) {
    TimeSource time = TimeSource.system();
    ServiceConfig config = ConfigLoader.defaults();
    PolicyStore policies = new PolicyStore();
    LoadResult loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("busy", POLICIES)));
    policies.loaded(Objects.requireNonNull(loaded.book()), loaded.problems(), time.wallMillis());
    telemetry = Telemetry.start(config.telemetry());
    store = new SlowStore(perSecond, time);
    tiers =
        new Tiers(
            store,
            time,
            (_, _) -> {},
            new TierSettings(1_000, TimeUnit.SECONDS.toNanos(1), .1),
            TierListener.NONE);
    Health health = new Health();
    server =
        MeasuredPath.shared(config, policies, tiers, telemetry, time, null, null)
            .path()
            .server(listener(config.grpc()), health, null);
    server.start();
    health.clear(Health.Obstacle.STARTING);
  }

  private static GrpcConfig listener(GrpcConfig defaults) {
    return new GrpcConfig(
        "127.0.0.1",
        0,
        null,
        null,
        defaults.connectionAge(),
        defaults.keepAlive(),
        defaults.limits(),
        1,
        new GrpcConfig.Drain(Duration.ZERO, Duration.ofMillis(200)),
        false);
  }

  int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.stop();
    tiers.close();
    store.close();
    telemetry.close();
  }
}
