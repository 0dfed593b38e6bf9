package io.throttlekit.service;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.Fleet;
import io.throttlekit.service.concurrency.envoy.ReplicaMembership;
import io.throttlekit.service.concurrency.envoy.Steering;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.store.SharedStore;
import io.throttlekit.service.telemetry.FleetMetrics;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.steering.SteeringExchange;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The part of this process among replicas of the service that have one store. */
final class Replicas {
  private Replicas() {}

  /**
   * Returns a path that decides by {@code policies}, with the counters and the concurrency limits
   * of the store; the latter are of this process alone if the store is its memory.
   *
   * @param loops the event loops that serve
   * @param metrics of this process's part
   */
  static MeasuredPath path(
      ServiceConfig config,
      PolicyStore policies,
      SharedStore store,
      Telemetry telemetry,
      TimeSource time,
      EventLoopGroup loops,
      FleetMetrics metrics) {
    Function<Coordination, ConcurrencyCoordinator> coordinators = store.coordinators();
    if (coordinators == null) {
      return MeasuredPath.shared(config, policies, store.tiers(), telemetry, time, loops, null);
    }
    Fleet fleet = new Fleet(nodeId(config), coordinators, new SecureRandom()::nextLong, metrics);
    MeasuredPath path =
        MeasuredPath.shared(config, policies, store.tiers(), telemetry, time, loops, fleet);
    metrics.show(path.path().limiter().limits());
    return path;
  }

  /**
   * Returns the part in which this process pushes limits to Envoys, together with the replicas that
   * have its store; null for a service in shadow mode, because Envoys apply every pushed limit.
   *
   * @param store null if counters are in the memory of this process, which steers alone then
   * @param limits notified when a limit changes
   */
  static @Nullable Steering steering(
      ServiceConfig config,
      @Nullable SharedStore store,
      TimeSource time,
      ConcurrencyListener limits,
      FleetMetrics metrics) {
    if (config.compatibility().shadowMode()) {
      return null;
    }
    LimitServerSettings defaults = LimitServerSettings.DEFAULT;
    LimitServerSettings settings =
        new LimitServerSettings(
            defaults.resource(),
            config.concurrency().maxEnvoys(),
            config.concurrency().envoyHold(),
            defaults.turn(),
            defaults.pause());
    ReplicaMembership membership =
        store == null || config.store().address().inMemory()
            ? ReplicaMembership.alone(time, nodeId(config))
            : new ReplicaMembership(
                connectedWhenUsed(store), nodeId(config), new SecureRandom().nextLong(), false);
    return new Steering(time, settings, membership, limits, metrics);
  }

  /** Returns the exchange of a store: without rules for Envoys it has no connections. */
  private static SteeringExchange connectedWhenUsed(SharedStore store) {
    return new SteeringExchange() {
      @Override
      public CompletionStage<Answer> visit(Visit visit) {
        return store.steering().visit(visit);
      }

      @Override
      public void close() {} // with the store
    };
  }

  /** Returns the id of this process. */
  static String nodeId(ServiceConfig config) {
    return nodeId(config.concurrency().nodeId(), System.getenv());
  }

  /**
   * Returns the configured id. Without one it is the name of the pod, which Kubernetes keeps unique
   * in a namespace, or the name of the host and the id of the process.
   *
   * @param configured empty for none
   * @param environment of this process
   */
  static String nodeId(String configured, Map<String, String> environment) {
    if (!configured.isEmpty()) {
      return configured;
    }
    String host = environment.getOrDefault("HOSTNAME", "");
    if (!host.isEmpty() && environment.containsKey("KUBERNETES_SERVICE_HOST")) {
      return host;
    }
    return (host.isEmpty() ? localHost() : host) + "-" + ProcessHandle.current().pid();
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
