package io.throttlekit.service.warmup;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.DecisionPath;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.store.SharedStore;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the JVM compile the path of a request to a shared store and back, as {@link WarmUp} does for
 * counters in memory.
 *
 * <p>The requests go over their own plaintext loopback port to the service's event loops, and from
 * each loop over its connection to the store. They peek, or lease from limits of 0, so that the
 * store writes nothing. Policies, tiers and metrics are the warm-up's own.
 */
public final class StoreWarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(StoreWarmUp.class);

  /** Maximum duration, however slow the store is. */
  private static final Duration MAX_TIME = Duration.ofSeconds(3);

  /** Additional wait for calls in flight at the end, which must not be counted in the metrics. */
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

  /** More invocations than the JIT compilers' thresholds need. */
  private static final int REQUESTS = 20_000;

  /** Requests after which a new server starts, as {@link WarmUp} does. */
  private static final int REQUESTS_PER_SERVER = 5_000;

  /** Minimum of connections, on hosts with fewer event loops. */
  private static final int MIN_CALLERS = 4;

  /** Bursts of leases per server, because the requests themselves hardly lease. */
  private static final int LEASE_BURSTS = 100;

  /** Leases requested at once on each event loop. */
  private static final int LEASES_IN_BURST = 16;

  /** A limit of 0, of which no units are granted. */
  private static final FixedWindow NOTHING = new FixedWindow(0, 1_000);

  private final ServiceConfig config;
  private final CounterStore store;
  private final EventLoopGroup loops;
  private final TimeSource time;
  private final WarmUpRound visit;

  /** The leases requested last; confined to the thread that calls {@link #run}. */
  private CompletableFuture<?> inFlight = CompletableFuture.completedFuture(null);

  /**
   * Creates a warm-up of a service configured like {@code config}.
   *
   * @param store to call
   * @param loops of the service; not shut down here
   * @param stopped reaches zero when the warm-up shall stop
   */
  public StoreWarmUp(
      ServiceConfig config,
      CounterStore store,
      EventLoopGroup loops,
      TimeSource time,
      CountDownLatch stopped) {
    this.config = ScratchConfig.of(config, WarmUpRound.LARGEST_BURST);
    this.store = store;
    this.loops = loops;
    this.time = time;
    this.visit = new WarmUpRound(time, stopped);
  }

  /** Runs the warm-up; returns the number of answered requests. */
  public int run() {
    int most = Math.min(REQUESTS, config.warmUp().requests());
    if (most == 0) {
      return 0;
    }
    long end = time.monotonicNanos() + MAX_TIME.toNanos();
    PolicyStore policies = visit.policies(StoreTraffic.POLICIES);
    int loopCount = (int) StreamSupport.stream(loops.spliterator(), false).count();
    List<Caller> callers = StoreTraffic.callers(Math.max(MIN_CALLERS, loopCount));
    int answered = 0;
    while (answered < most && visit.mayGoOn(end)) {
      int round = Math.min(REQUESTS_PER_SERVER, most - answered);
      int now = serve(policies, callers, round, end);
      answered += now;
      if (now < round) { // the time is up
        break;
      }
      for (int burst = 0; burst < LEASE_BURSTS && visit.mayGoOn(end) && lease(end); burst++) {
        // The condition does the work: none of the requests leases.
      }
      visit.awaitCompilers(end);
    }
    var _ = awaitLeases(inFlight, time.monotonicNanos() + LAST_ANSWERS.toNanos());
    if (answered < most) { // a last lease per loop: answered after all earlier calls
      var _ = lease(time.monotonicNanos() + LAST_ANSWERS.toNanos());
    }
    return answered;
  }

  private int serve(PolicyStore policies, List<Caller> callers, int requests, long end) {
    TierSettings settings = SharedStore.tierSettings(config.store());
    try (Telemetry telemetry = Telemetry.start(config.telemetry());
        Tiers tiers = new Tiers(store, time, (_, _) -> {}, settings, TierListener.NONE)) {
      DecisionPath path =
          MeasuredPath.shared(config, policies, tiers, telemetry, time, loops, null).path();
      GrpcServer server = path.server(config.grpc(), new Health(), null);
      return visit.round(server, callers, requests, end);
    }
  }

  /** Requests leases on each loop; returns whether all were answered before {@code end}. */
  private boolean lease(long end) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    loops.forEach(loop ->
        answers.add(CompletableFuture.completedFuture(true).thenComposeAsync(_ -> leases(), loop)));
    inFlight = CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
    return awaitLeases(inFlight, end);
  }

  private boolean awaitLeases(CompletableFuture<?> leases, long end) {
    try {
      leases.get(Math.max(1, end - time.monotonicNanos()), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("a lease of the warm-up was not answered", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // ends the warm-up
    }
    return false;
  }

  private CompletableFuture<Void> leases() {
    CompletableFuture<?>[] answers = new CompletableFuture<?>[LEASES_IN_BURST];
    for (int i = 0; i < answers.length; i++) {
      CounterKey key = CounterKey.of("warm-up", "lease", Integer.toString(i));
      answers[i] =
          store.lease(new LeaseRequest(key, NOTHING, 1, DataLoss.REFILL)).toCompletableFuture();
    }
    return CompletableFuture.allOf(answers);
  }
}
