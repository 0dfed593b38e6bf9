package io.throttlekit.service;

import io.grpc.BindableService;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.HostPort;
import io.throttlekit.envoy.filter.FilterServer;
import io.throttlekit.service.concurrency.RequestPermits;
import io.throttlekit.service.concurrency.envoy.AccessLogReleases;
import io.throttlekit.service.concurrency.envoy.Steering;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import io.throttlekit.service.concurrency.sensors.LoadReports;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.config.SensorsConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.identity.ClientIdentities;
import io.throttlekit.service.loop.LoopLiveness;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.ListenException;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.LimitGauges;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import io.throttlekit.service.telemetry.ServerMetrics;
import io.throttlekit.service.telemetry.policies.FilterMetrics;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The services that receive reports of Envoys (access logs, load reports, concurrency limits), and
 * their listener, which is open only while a loaded rule needs it, or Envoys may receive their
 * filters. Thread-safe.
 */
final class Sensors implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sensors.class);

  /** Seconds between attempts to listen on an address that is in use. */
  private static final long RETRY_SECONDS = 5;

  private final ServiceConfig config;
  private final Meter meter;
  private final boolean steers;
  private final List<ServerServiceDefinition> services;
  private final @Nullable FilterServer filters;
  private boolean open;
  private boolean needed;
  private boolean logged;
  private @Nullable LoopLiveness liveness;
  private @Nullable GrpcServer server;
  private @Nullable ServerMetrics metrics;

  /**
   * Creates the configured services; what they receive releases permits and updates {@code
   * steering}, whose own services are included. Created once; listens after {@link #open}.
   *
   * @param steering null where this process steers nothing
   * @param marks whether answers leave marks in access logs at present
   */
  Sensors(
      ServiceConfig config,
      RequestPermits permits,
      @Nullable Steering steering,
      Meter meter,
      TimeSource time,
      BooleanSupplier marks) {
    this.config = config;
    this.meter = meter;
    this.steers = steering != null;
    SensorsConfig sensors = config.sensors();
    ClientIdentities clients =
        new ClientIdentities(
            sensors.identities(), sensors.bindNodeId(), ServerMetrics.refusedClients(meter));
    this.filters =
        sensors.filter() == null
            ? null
            : new FilterServer(sensors.filter(), Scheduler.system(), Thread::startVirtualThread);
    List<BindableService> all =
        services(config.concurrency(), permits, steering, meter, time, marks);
    if (filters != null) {
      all.add(filters);
      FilterMetrics.register(meter, filters::figures);
    }
    this.services =
        all.stream().map(service -> ServerInterceptors.intercept(service, clients)).toList();
  }

  private static List<BindableService> services(
      ConcurrencyConfig config,
      RequestPermits permits,
      @Nullable Steering steering,
      Meter meter,
      TimeSource time,
      BooleanSupplier marks) {
    List<BindableService> services = new ArrayList<>(5);
    OutcomeListener outcomes = new AccessLogReleases(permits);
    if (steering != null) {
      outcomes = outcomes.andThen(steering);
      services.addAll(steering.services());
      LimitGauges.show(meter, steering::forEach);
      LimitGauges.showSteering(
          meter, steering::figures, steering::held, steering::sharedNodes, steering::rejected);
      LimitGauges.showAcknowledgements(meter, steering::forEachAcknowledged);
      LimitGauges.showReserved(meter, steering::forEachReserved);
      LimitGauges.showRefusals(meter, steering::forEachRefusals);
    }
    if (config.accessLog()) {
      services.add(
          new AccessLogs(
              outcomes, new AccessLogMetrics(meter, marks), time, config.maxSamplesPerSecond()));
    }
    if (config.loadReports()) {
      LoadListener loads = steering == null ? LoadListener.NONE : steering;
      services.add(
          new LoadReports(loads, new LoadReportMetrics(meter), time, config.loadReportInterval()));
    }
    return services;
  }

  /**
   * Listens from now on, while a rule needs it.
   *
   * @param loops checks the event loops of the listener
   * @throws ListenException when a rule needs it now and the address cannot be bound
   */
  synchronized void open(LoopLiveness loops) {
    open = true;
    liveness = loops;
    if (needed) {
      listen();
    }
  }

  /** Listens if a rule of these policies needs it; stops if none does. */
  synchronized void follow(PolicyBook book) {
    needed = filters != null || book.rules().stream().anyMatch(this::isNeededFor);
    if (filters != null) {
      filters.follow(book);
    }
    if (open) {
      apply();
    }
  }

  /** Returns {@code HOST:PORT}; null while it does not listen. */
  synchronized @Nullable String address() {
    return server == null ? null : server.address();
  }

  /** Stops permanently. */
  @Override
  public synchronized void close() {
    open = false;
    stop();
  }

  private boolean isNeededFor(Rule rule) {
    var terms = rule.concurrency();
    if (terms == null) {
      return false;
    }
    return switch (terms.gate()) {
      case AtEnvoys _ -> steers;
      case AtService at ->
          config.concurrency().accessLog() && at.lease().release() == Release.ACCESS_LOG;
    };
  }

  private void apply() {
    if (!needed && server != null) {
      LOG.info("{} is closed, as no rule needs sensors", server.address());
      stop();
    } else if (needed && server == null) {
      try {
        listen();
      } catch (ListenException e) { // the policies are in effect, and the port may become free
        if (!logged) {
          LOG.error("{}; tried again every {} s", e.getMessage(), RETRY_SECONDS);
        }
        logged = true;
        CompletableFuture.delayedExecutor(RETRY_SECONDS, TimeUnit.SECONDS).execute(this::retry);
      }
    }
  }

  private synchronized void retry() {
    if (open) {
      apply();
    }
  }

  private void listen() {
    SensorsConfig sensors = config.sensors();
    GrpcServer listening;
    try {
      listening =
          GrpcServer.ofStreams(config.grpc().forSensors(sensors), services, sensors.maxStreams());
      listening.start();
    } catch (ListenException e) {
      throw e.setBy("sensors.listen");
    }
    if (liveness != null) {
      listening.checkedBy(liveness);
    }
    metrics = new ServerMetrics(meter, "throttlekit_sensors_", listening);
    server = listening;
    logged = false;
    LOG.info("listening for reports of Envoys on {}", listening.address());
    if (!sensors.knowsClients() && !isLoopback(sensors.host())) {
      LOG.warn(
          "any client of {} can change limits and take shares of them: set sensors.tls.client_ca,"
              + " or listen on loopback (sensors.listen)",
          HostPort.text(sensors.host(), sensors.port()));
    }
  }

  private void stop() {
    GrpcServer listening = server;
    server = null;
    if (listening != null) {
      listening.stop();
    }
    if (metrics != null) {
      metrics.close();
      metrics = null;
    }
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
