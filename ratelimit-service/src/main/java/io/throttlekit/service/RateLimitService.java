package io.throttlekit.service;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.Problem;
import io.throttlekit.service.admission.MemoryAdmission;
import io.throttlekit.service.config.MetricsConfig;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.http.HttpListener;
import io.throttlekit.service.http.HttpServers;
import io.throttlekit.service.policies.LoadStatus;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.JsonFrontEnd;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.server.Health.Obstacle;
import io.throttlekit.service.server.HostPort;
import io.throttlekit.service.server.ListenException;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.warmup.WarmUp;
import io.throttlekit.store.InMemoryStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole process: every part is made here and handed to those that need it.
 *
 * <p>Started once and stopped once, from any threads.
 */
public final class RateLimitService {

  private static final Logger LOG = LoggerFactory.getLogger(RateLimitService.class);

  private final ServiceConfig config;
  private final TimeSource time;
  private final PolicyStore policies = new PolicyStore();
  private final Health health = new Health();
  private final InMemoryStore counters;
  private final Telemetry telemetry;
  private final RateLimitMetrics metrics;
  private final PolicyReloader reloader;
  private final RateLimitFrontEnd frontEnd;
  private final List<HttpListener> httpListeners = new ArrayList<>();
  private @Nullable GrpcServer grpc;
  private boolean serving;
  private volatile boolean stopping;

  /**
   * A service that is not listening yet.
   *
   * @throws StartException when it never could
   */
  public RateLimitService(ServiceConfig config, TimeSource time) {
    this.config = config;
    this.time = time;
    this.counters = new InMemoryStore(time, config.store().maxCounters());
    try {
      this.telemetry = Telemetry.start(config.telemetry());
    } catch (IllegalArgumentException e) {
      throw new StartException(List.of(String.valueOf(e.getMessage())), e);
    }
    this.metrics =
        new RateLimitMetrics(
            telemetry.meter(),
            policies::book,
            counters::size,
            counters::forgotten,
            config.telemetry().nearLimitRatio(),
            config.telemetry().maxSeries());
    this.reloader = new PolicyReloader(config.policies(), policies, time, this::policiesLoaded);
    this.frontEnd =
        new RateLimitFrontEnd(
            new MemoryAdmission(policies::book, counters, config.compatibility(), metrics),
            config.response(),
            config.compatibility(),
            config.grpc().maxDescriptors(),
            time);
  }

  /**
   * Loads the policies, listens, warms up, and serves.
   *
   * @return whether it serves; false when it was stopped meanwhile
   * @throws StartException when it cannot
   */
  public synchronized boolean start() {
    try {
      tellPolicyHealth();
      reloader.poll();
      requirePolicies();
      listen();
      reloader.start();
      int requests = new WarmUp(config, time, () -> stopping).run();
      LOG.info("warmed up with {} requests", requests);
    } catch (ListenException e) {
      release();
      throw new StartException(List.of(String.valueOf(e.getMessage())), e);
    } catch (StartException e) {
      release();
      throw e;
    } catch (RuntimeException e) {
      release();
      throw new StartException(List.of("cannot start: " + e), e);
    }
    if (!stopping) {
      serving = true;
      health.clear(Obstacle.STARTING);
    }
    return serving;
  }

  /**
   * Drains and stops.
   *
   * @return whether there was something to stop: false for a service that could not start
   */
  public boolean stop() {
    stopping = true;
    health.raise(Obstacle.DRAINING);
    synchronized (this) {
      if (grpc == null) {
        return false;
      }
      LOG.info("draining");
      release();
      serving = false;
      return true;
    }
  }

  /** What tells scripts that the service serves, and where. */
  public synchronized String readyLine() {
    return "ready grpc=" + grpcAddress() + " http=" + address(0) + " debug=" + address(1);
  }

  /** Where gRPC is served: {@code HOST:PORT}, or the path of a socket. */
  public synchronized String grpcAddress() {
    GrpcServer listening = grpc;
    return listening == null ? "-" : listening.address();
  }

  /** Whether this process says that it serves. */
  public boolean healthy() {
    return health.serving();
  }

  private String address(int listener) {
    if (httpListeners.size() <= listener) {
      return "-";
    }
    String host = listener == 0 ? config.http().host() : config.debug().host();
    return HostPort.text(host, httpListeners.get(listener).address().getPort());
  }

  private void requirePolicies() {
    if (policies.book() != null || !config.policies().requireAtStart()) {
      return;
    }
    LoadStatus status = policies.status();
    List<String> reasons = new ArrayList<>();
    status.problems().stream().map(Problem::toString).forEach(reasons::add);
    reasons.add("no policies: " + status.lastError());
    throw new StartException(reasons);
  }

  private void listen() {
    PolicyConfig source = config.policies();
    boolean standsIn = source.paths().isEmpty() && source.runtime() != null;
    Scrape scrape = telemetry.scrape();
    listen(
        "http",
        () ->
            HttpServers.service(
                config.http(),
                new JsonFrontEnd(frontEnd, metrics, time)::answer,
                config.grpc().maxMessageBytes(),
                standsIn,
                health::serving,
                scrape));
    listen("debug", () -> HttpServers.debug(config.debug(), policies, metrics::lines, scrape));
    MetricsConfig own = config.metrics();
    if (own != null && scrape != null) {
      listen("metrics", () -> HttpServers.metrics(own, scrape));
    }
    GrpcServer server =
        new GrpcServer(
            config.grpc(),
            frontEnd,
            health,
            metrics,
            telemetry.tracing(() -> ThreadLocalRandom.current().nextDouble()),
            time);
    server.start();
    grpc = server;
  }

  /** Makes a listener. */
  private interface Listening {
    HttpListener listen() throws IOException;
  }

  private void listen(String what, Listening listening) {
    try {
      HttpListener listener = listening.listen();
      httpListeners.add(listener);
      listener.start();
    } catch (IOException | IllegalArgumentException e) { // the latter: a host that does not resolve
      throw new StartException(List.of("cannot listen for " + what + ": " + e.getMessage()), e);
    }
  }

  private void release() {
    GrpcServer listening = grpc;
    grpc = null; // nothing is left to stop
    if (listening != null) {
      listening.stop();
    }
    reloader.close();
    httpListeners.forEach(HttpListener::close);
    telemetry.close();
  }

  private void policiesLoaded(boolean good) {
    metrics.policiesLoaded(good);
    tellPolicyHealth();
  }

  private void tellPolicyHealth() {
    PolicyBook book = policies.book();
    if (config.health().needsPolicies() && (book == null || book.domains().isEmpty())) {
      health.raise(Obstacle.NO_POLICIES);
    } else {
      health.clear(Obstacle.NO_POLICIES);
    }
  }
}
