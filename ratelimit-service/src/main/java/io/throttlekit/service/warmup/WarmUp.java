package io.throttlekit.service.warmup;

import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.descriptors.LoadResult;
import io.throttlekit.descriptors.PolicyLoader;
import io.throttlekit.descriptors.PolicySource;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.config.WarmUpConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.DecisionPath;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends requests to a service like this one until the virtual machine has compiled the way of a
 * request.
 *
 * <p>It begins anew several times, with a server and counters that have seen nothing, since that is
 * what the first real requests meet; and it waits for the compilers each time, so that they are not
 * still at work when those come (docs/adr/0004). The requests go over a plaintext loopback port of
 * their own, to a store, policies and metrics of their own: nothing that counts is touched.
 */
public final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  /** Where a warm-up of the usual size ends, however few requests were sent. */
  static final Duration LONGEST = Duration.ofSeconds(7);

  /** How long compilers say nothing before they are done. */
  private static final Duration QUIET = Duration.ofMillis(60);

  private static final int LARGEST_BURST = 32;

  /** Requests after which everything begins anew, as it will when the real ones come. */
  private static final int REQUESTS_PER_SERVER = 10_000;

  /** Fewer than the traffic has, so that some are evicted too. */
  private static final long COUNTERS = 2_000;

  private final ServiceConfig config;
  private final boolean traced;
  private final boolean shared;
  private final TimeSource time;
  private final CountDownLatch stopped;

  /**
   * A warm-up of a service configured like {@code config}.
   *
   * @param stopped zero when nobody waits for it any more
   */
  public WarmUp(ServiceConfig config, TimeSource time, CountDownLatch stopped) {
    this.config = ScratchConfig.of(config, LARGEST_BURST);
    this.shared = !config.store().address().inMemory() || config.federation() != null;
    this.traced = config.telemetry().tracing();
    this.time = time;
    this.stopped = stopped;
  }

  /** Sends them; returns how many were answered. */
  public int run() {
    int requests = config.warmUp().requests();
    if (requests == 0) {
      return 0;
    }
    long end = time.monotonicNanos() + longest(requests).toNanos();
    PolicyStore policies = policies();
    Traffic traffic = new Traffic(config.extAuthz() != null);
    int answered = 0;
    while (answered < requests && mayGoOn(end)) {
      int most = Math.min(REQUESTS_PER_SERVER, requests - answered);
      int round = serve(policies, traffic, most, end);
      answered += round;
      if (round < most) { // the time is up, or the server wants no more
        break;
      }
      awaitCompilers(end);
    }
    return answered;
  }

  /** Longer for who asks for more than usual, such as the training of bin/throttlekit. */
  static Duration longest(int requests) {
    return LONGEST.multipliedBy(Math.max(1, requests / WarmUpConfig.defaults().requests()));
  }

  /** Traffic would only take their time, and set them to compile what others inline by then. */
  private void awaitCompilers(long end) {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    if (compilers == null || !compilers.isCompilationTimeMonitoringSupported()) {
      return;
    }
    long millis;
    do {
      millis = compilers.getTotalCompilationTime();
      pause();
    } while (compilers.getTotalCompilationTime() > millis && mayGoOn(end));
  }

  private void pause() {
    try {
      var _ = stopped.await(QUIET.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // ends the warm-up
    }
  }

  private PolicyStore policies() {
    PolicyStore policies = new PolicyStore();
    LoadResult loaded =
        new PolicyLoader(new LoadOptions(true))
            .load(List.of(new PolicySource("warm-up", Traffic.policies(shared))));
    policies.loaded(Objects.requireNonNull(loaded.book()), loaded.problems(), time.wallMillis());
    return policies;
  }

  private int serve(PolicyStore policies, Traffic traffic, int requests, long end) {
    InMemoryStore counters = new InMemoryStore(time, COUNTERS);
    try (Telemetry telemetry = Telemetry.start(config.telemetry());
        Tiers tiers = shared ? tiers(counters) : null) {
      DecisionPath path =
          tiers == null
              ? DecisionPath.inMemory(config, policies, counters, telemetry, time)
              : DecisionPath.shared(config, policies, tiers, telemetry, time, null);
      GrpcServer server = path.server(config.grpc(), new Health(), tracing());
      server.start();
      try {
        return round(server.port(), traffic, requests, end);
      } finally {
        server.stop();
      }
    }
  }

  /** The tiers that the real ones are like, over counters that nobody shares. */
  private Tiers tiers(InMemoryStore counters) {
    StoreConfig store = config.store();
    TierSettings settings =
        new TierSettings(
            store.maxLeaseCells(), store.deadlines().decision().toNanos(), store.localShare());
    return new Tiers(counters, time, (_, _) -> {}, settings, TierListener.NONE);
  }

  /** All clients connect, ask and leave; how many requests were answered. */
  private int round(int port, Traffic traffic, int requests, long end) {
    List<BareClient> clients = new ArrayList<>();
    try {
      for (Caller caller : traffic.callers()) {
        clients.add(BareClient.connect(ScratchConfig.HOST, port, caller.headers()));
      }
      ask(clients, traffic, requests, end);
    } catch (IOException e) {
      LOG.warn("the warm-up ended early: {}", e.getMessage());
    } finally {
      clients.forEach(BareClient::close);
    }
    return clients.stream().mapToInt(BareClient::answered).sum();
  }

  /**
   * Sends bursts at once, the largest first as a mesh that waited would, until there are no more
   * requests or there is no more time.
   */
  private void ask(List<BareClient> clients, Traffic traffic, int requests, long end)
      throws IOException {
    int sent = 0;
    for (int burst = 0; sent < requests && mayGoOn(end); burst++) {
      for (int i = 0; i < clients.size(); i++) {
        int size = Math.min(requests - sent, LARGEST_BURST - burst % LARGEST_BURST);
        clients.get(i).send(traffic.callers().get(i).messages().next(size));
        sent += size;
      }
      for (BareClient client : clients) {
        if (!client.awaitAnswers(time, end)) {
          return;
        }
      }
    }
  }

  private boolean mayGoOn(long end) {
    return stopped.getCount() > 0
        && !Thread.currentThread().isInterrupted()
        && end - time.monotonicNanos() > 0;
  }

  /** Like the real one, but nothing is ever recorded. */
  private DecisionTracing tracing() {
    return traced
        ? DecisionTracing.on(TracerProvider.noop().get("warm-up"), 0)
        : DecisionTracing.off();
  }
}
