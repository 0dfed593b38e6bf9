package io.throttlekit.service;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.HostPort;
import io.throttlekit.service.concurrency.envoy.Steering;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.http.HttpListener;
import io.throttlekit.service.http.HttpServers;
import io.throttlekit.service.http.MetricsRoute;
import io.throttlekit.service.loop.LoopLiveness;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.JsonFrontEnd;
import io.throttlekit.service.server.CallTracing;
import io.throttlekit.service.server.DecisionPath;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.server.Health.Obstacle;
import io.throttlekit.service.server.ListenException;
import io.throttlekit.service.server.StartException;
import io.throttlekit.service.store.SharedStore;
import io.throttlekit.service.telemetry.FleetMetrics;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.ServerMetrics;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.policies.ControlPlaneMetrics;
import io.throttlekit.service.telemetry.refusals.RecentRefusals;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.warmup.StoreWarmUp;
import io.throttlekit.service.warmup.WarmUp;
import io.throttlekit.store.InMemoryStore;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole process: every part is created here and passed to the parts that need it.
 *
 * <p>Started once and stopped once, from any threads.
 */
public final class RateLimitService {

  /** The logger of start and stop, which no configured level hides. */
  public static final String LIFECYCLE = "io.throttlekit.service.lifecycle";

  private static final Logger LOG = LoggerFactory.getLogger(RateLimitService.class);
  private static final Logger ENDS = LoggerFactory.getLogger(LIFECYCLE);

  private final ServiceConfig config;
  private final TimeSource time;
  private final PolicyStore policies = new PolicyStore();
  private final Health health = new Health();
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final Telemetry telemetry;
  private final FleetMetrics fleet;
  private final DecisionPath path;
  private final RateLimitMetrics metrics;
  private final RecentRefusals refusals;
  private final RedisPools pools = new RedisPools();
  private final PeerStatistics statistics;
  private final @Nullable Steering steering;
  private final Sensors sensors;
  private final PolicyUpdates updates;
  private final List<HttpListener> httpListeners = new ArrayList<>();
  private @Nullable SharedStore store;
  private @Nullable GrpcServer grpc;
  private boolean serving;
  private volatile boolean marking;

  /**
   * Creates a service that is not listening yet.
   *
   * @throws StartException when it can never start
   */
  public RateLimitService(ServiceConfig config, TimeSource time) {
    this.config = config;
    this.time = time;
    try {
      this.telemetry = Telemetry.start(config.telemetry(), Replicas.nodeId(config), time);
    } catch (IllegalArgumentException e) {
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
    this.fleet = new FleetMetrics(telemetry.meter(), telemetry.tracer(), time);
    MeasuredPath measured =
        config.store().address().inMemory() && config.federation() == null ? inMemory() : shared();
    this.path = measured.path();
    this.metrics = measured.metrics();
    this.statistics = new PeerStatistics(metrics, pools, telemetry, config.telemetry().statsd());
    ControlPlaneMetrics.register(telemetry.meter(), policies::controlPlane);
    this.refusals = measured.refusals();
    this.steering = Replicas.steering(config, store, time, measured.limits(), fleet);
    this.sensors =
        new Sensors(
            config, path.limiter().permits(), steering, telemetry.meter(), time, () -> marking);
    this.updates =
        new PolicyUpdates(
            config, policies, health, time, metrics::policiesLoaded, this::policiesLoaded);
  }

  /**
   * Loads the policies, listens and warms up. From then on it serves, unless {@link #healthy} is
   * false for a reason that may end, such as missing policies.
   *
   * @return whether it started; false when it was stopped meanwhile
   * @throws StartException when it cannot start
   */
  public synchronized boolean start() {
    boolean started = false;
    try {
      if (!updates.load(stopping)) {
        return false;
      }
      listen();
      updates.start();
      if (steering != null) {
        steering.start();
      }
      warmUp();
      awaitStore();
      started = true;
    } catch (StartException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new StartException("cannot start: " + e, e);
    } finally {
      if (!started) { // also on errors
        release();
      }
    }
    if (stopping.getCount() > 0) {
      statistics.start();
      serving = true;
      health.clear(Obstacle.STARTING);
      if (!health.serving()) {
        ENDS.warn("started, but not ready: {}", String.join(", ", health.obstacles()));
      }
    }
    return serving;
  }

  /**
   * Drains and stops.
   *
   * @return whether there was something to stop; false for a service that did not start
   */
  public boolean stop() {
    // Before the lock, which start() holds during a warm-up that this ends.
    stopping.countDown();
    health.raise(Obstacle.DRAINING);
    synchronized (this) {
      if (grpc == null) { // not started, or stopped already
        return false;
      }
      LOG.info("draining");
      long begun = time.monotonicNanos();
      release();
      serving = false;
      long millis = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - begun);
      ENDS.info("stopped; draining took {} ms", millis);
      return true;
    }
  }

  /** Waits until this process serves for the first time; does not return if it never does. */
  public void awaitServing() throws InterruptedException {
    health.awaitServing();
  }

  /** Returns the line that notifies scripts that the service serves, and where. */
  public synchronized String readyLine() {
    String sensing = sensors.address();
    return "ready grpc="
        + grpcAddress()
        + " http="
        + address(0)
        + " debug="
        + address(1)
        + (sensing == null ? "" : " sensors=" + sensing);
  }

  /**
   * Returns the address of gRPC, {@code HOST:PORT} or the path of a socket; {@code -} while it does
   * not listen.
   */
  public synchronized String grpcAddress() {
    GrpcServer listening = grpc;
    return listening == null ? "-" : listening.address();
  }

  /** Returns whether this process reports that it serves. */
  public boolean healthy() {
    return health.serving();
  }

  private MeasuredPath inMemory() {
    InMemoryStore counters = new InMemoryStore(time, config.store().maxCounters());
    return MeasuredPath.inMemory(config, policies, counters, telemetry, time);
  }

  private MeasuredPath shared() {
    EventLoopGroup loops = GrpcServer.eventLoops(config.grpc(), time);
    SharedStore shared;
    try {
      shared =
          new SharedStore(
              config.store(),
              config.federation(),
              loops,
              new StoreTelemetry(
                  telemetry.meter(), telemetry.tracer(), telemetry.tracedValues(), pools),
              time,
              this::storeReachable);
    } catch (IllegalArgumentException e) {
      var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
    store = shared;
    return Replicas.path(config, policies, shared, telemetry, time, loops, fleet);
  }

  private void warmUp() {
    int most = config.warmUp().requests();
    if (most > 0) { // the warm-up logs nothing for seconds
      LOG.info("warming up before it is ready, with at most {} requests", most);
    }
    int requests = new WarmUp(config, time, stopping).run();
    LOG.info("warmed up with {} requests", requests);
  }

  private void awaitStore() {
    SharedStore shared = store;
    if (shared == null) {
      return;
    }
    // Calls of the warm-up are not counted in the metrics.
    shared.countCalls(false);
    try {
      SharedStore.Answering answering = shared.awaitAnswers();
      if (answering.store() && path.loops() != null && !config.store().address().inMemory()) {
        int requests =
            new StoreWarmUp(config, shared.counters(), path.loops(), time, stopping).run();
        LOG.info("warmed up the path to the store with {} requests", requests);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      shared.countCalls(true);
    }
  }

  private void storeReachable(boolean reachable) {
    if (reachable || !config.health().storeMustBeReachable()) {
      health.clear(Obstacle.STORE_UNREACHABLE);
    } else {
      health.raise(Obstacle.STORE_UNREACHABLE);
    }
  }

  /** Returns a one-line description of the store for operators. */
  private String describeStore() {
    SharedStore shared = store;
    return shared == null ? "memory" : shared.describe();
  }

  private String address(int listener) {
    if (httpListeners.size() <= listener) {
      return "-";
    }
    String host = listener == 0 ? config.http().host() : config.debug().host();
    return HostPort.text(host, httpListeners.get(listener).address().getPort());
  }

  private void listen() {
    PolicyConfig source = config.policies();
    boolean standsIn = source.paths().isEmpty() && source.runtime() != null;
    Scrape scrape = telemetry.scrape();
    MetricsRoute route = scrape == null ? null : new MetricsRoute(scrape, time);
    HttpServers servers = new HttpServers(time, route);
    LoopLiveness liveness = new LoopLiveness(time);
    listen(
        "http",
        config.http().host(),
        config.http().port(),
        () ->
            servers.service(
                config.http(),
                new JsonFrontEnd(path.frontEnd(), path.calls(), time)::answer,
                config.grpc().limits().messageBytes(),
                standsIn,
                new ServiceProbes(health, liveness)));
    listen(
        "debug",
        config.debug().host(),
        config.debug().port(),
        () ->
            servers.debug(
                config.debug(),
                policies,
                this::describeStore,
                statistics::lines,
                refusals::page,
                path.limiter(),
                steering == null ? null : steering::figures));
    MetricsConfig own = config.metrics();
    if (own != null && scrape != null) {
      listen("metrics", own.host(), own.port(), () -> servers.metrics(own));
    }
    CallTracing tracing =
        telemetry.tracing(path.limiter().limits()::shared, config.store().cachedDenyDefault());
    GrpcServer server;
    try {
      server = path.server(config.grpc(), health, tracing);
      ServerMetrics.ofDecisions(telemetry.meter(), server);
      server.start();
    } catch (ListenException e) {
      throw e.setBy(
          config.grpc().unixSocket() == null ? "grpc.host, grpc.port" : "grpc.unix_socket");
    }
    server.checkedBy(liveness);
    grpc = server;
    sensors.open(liveness);
  }

  /** Creates a listener. */
  private interface Listening {
    HttpListener listen() throws IOException;
  }

  private void listen(String what, String host, int port, Listening listening) {
    try {
      HttpListener listener = listening.listen();
      httpListeners.add(listener);
      listener.start();
    } catch (IOException | IllegalArgumentException e) { // the latter: an unresolved host
      boolean unknown = new InetSocketAddress(host, port).isUnresolved();
      String why = unknown ? "unknown host" : e.getMessage();
      String setting = what + (what.equals("metrics") ? ".address" : unknown ? ".host" : ".port");
      throw new StartException(
          "cannot listen for %s on %s: %s (set by %s)"
              .formatted(what, HostPort.text(host, port), why, setting),
          e);
    }
  }

  private void release() {
    GrpcServer listening = grpc;
    grpc = null; // a second stop() finds nothing to do
    if (listening != null) {
      listening.stop();
    }
    updates.close();
    if (steering != null) {
      steering.close(); // before the streams end: a report must not say that their Envoys left
    }
    sensors.close();
    httpListeners.forEach(HttpListener::close);
    path.limiter().close();
    if (store != null) {
      store.close();
    }
    if (path.loops() != null) {
      var _ = path.loops().shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
    statistics.close();
    telemetry.close();
  }

  private void policiesLoaded(PolicyBook book) {
    marking = config.response().dynamicMetadata() || givesLeases(book);
    PolicyWarnings.log(config, book);
    if (store != null) {
      store.policiesLoaded(book);
      if (givesLeases(book)) {
        store.forwardReleases(path.limiter().permits());
      }
    }
    if (steering != null) {
      steering.follow(book);
    }
    sensors.follow(book);
  }

  private static boolean givesLeases(PolicyBook book) {
    return book.rules().stream()
        .map(Rule::concurrency)
        .anyMatch(limit -> limit != null && limit.gate() instanceof ConcurrencyRule.AtService);
  }
}
