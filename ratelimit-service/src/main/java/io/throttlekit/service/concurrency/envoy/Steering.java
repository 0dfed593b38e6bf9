package io.throttlekit.service.concurrency.envoy;

import io.grpc.BindableService;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitServer;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.share.Acknowledgements;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes Envoys enforce the concurrency limits of all rules with {@code gate: envoy}: collects
 * samples from access logs and load reports, runs the limit algorithm of each limit, and pushes the
 * result twice a second.
 *
 * <p>The log does not name the circuit breaker of a request: the algorithms of both priorities of a
 * cluster receive all of its requests. Thread-safe; waits only for the short critical sections of
 * other threads.
 */
public final class Steering implements OutcomeListener, LoadListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Steering.class);
  // half of the logs' interval
  private static final long TICK_MILLIS = 500;

  private final TimeSource time;
  private final ConcurrencyListener listener;
  private final LimitServer server;
  private final ScheduledExecutorService timer =
      new ScheduledThreadPoolExecutor(
          1,
          Thread.ofPlatform().daemon().name("steering").factory(),
          new ThreadPoolExecutor.DiscardPolicy()); // tasks after the shutdown are dropped
  private volatile Map<ClusterLimit, SharedLimit> steered = Map.of();
  private volatile Map<String, List<SharedLimit>> byCluster = Map.of();

  /**
   * Creates an instance without limits, which is idle until {@link #start}.
   *
   * @param listener notified when a limit changes
   * @param maxEnvoys streams of Envoys that request their limits, from 1; more are rejected
   */
  public Steering(TimeSource time, ConcurrencyListener listener, int maxEnvoys) {
    this(time, listener, LimitServerSettings.DEFAULT.withMaxStreams(maxEnvoys));
  }

  Steering(TimeSource time, ConcurrencyListener listener, LimitServerSettings settings) {
    this.time = time;
    this.listener = listener;
    String epoch = Long.toString(time.wallMillis(), Character.MAX_RADIX);
    this.server = new LimitServer(settings, time, epoch, this::acknowledged, this::later);
  }

  /** Returns the services from which Envoys request their limits, to be added to a gRPC server. */
  public List<BindableService> services() {
    return server.services();
  }

  /** Starts to push limits. */
  public void start() {
    var _ =
        timer.scheduleWithFixedDelay(
            this::tickAndGoOn, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Applies the limits of these policies and no others. Limits that exist already keep their state.
   * Where a limit is withdrawn, Envoys apply the threshold of their bootstraps.
   */
  public synchronized void follow(PolicyBook book) {
    Map<ClusterLimit, SharedLimit> before = steered;
    Map<ClusterLimit, SharedLimit> next = new LinkedHashMap<>();
    for (Rule rule : book.rules()) {
      ConcurrencyRule terms = rule.concurrency();
      if (terms != null && terms.gate() instanceof AtEnvoys at) {
        Priority priority = at.highPriority() ? Priority.HIGH : Priority.DEFAULT;
        ClusterLimit limit = new ClusterLimit(at.cluster(), priority);
        next.computeIfAbsent(limit, _ -> follow(limit, before.get(limit), rule, terms));
      }
    }
    Map<String, List<SharedLimit>> clusters = new HashMap<>();
    next.forEach(
        (limit, of) -> clusters.computeIfAbsent(limit.cluster(), _ -> new ArrayList<>()).add(of));
    steered = next;
    byCluster = clusters;
    before
        .keySet()
        .forEach(limit -> {
          if (!next.containsKey(limit)) {
            server.withdraw(limit.cluster(), limit.priority());
            LOG.info("{} is not controlled any more", inWords(limit));
          }
        });
    if (!next.isEmpty()) {
      tick();
    }
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    of(reading.cluster()).forEach(limit -> limit.ended(node, reading, beganNanos, arrivedNanos));
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    of(load.cluster()).forEach(limit -> limit.reported(node, stream, load, arrivedNanos));
  }

  @Override
  public void left(String node, long stream) {
    steered.values().forEach(limit -> limit.left(node, stream));
  }

  private List<SharedLimit> of(String cluster) {
    return byCluster.getOrDefault(cluster, List.of());
  }

  /** Pushes the current limits, divided by the demand of Envoys. */
  synchronized void tick() {
    long now = time.monotonicNanos();
    steered.forEach((limit, of) -> {
      for (Envoys.Demand demand : of.demands(now)) {
        if (demand.exact() || demand.inFlight() > 0 || demand.refused() > 0) {
          server.reported(limit, demand.node(), demand.inFlight(), demand.refused());
        }
      }
      server.offer(limit.cluster(), limit.priority(), of.offer(now));
    });
    server.tick();
    steered.forEach((limit, of) -> of.granted(server.reserved(limit)));
  }

  /** Passes each limit to {@code reader} with its rule. */
  public void forEach(BiConsumer<Rule, LimiterFigures> reader) {
    long now = time.monotonicNanos();
    steered.values().forEach(of -> reader.accept(of.rule(), of.figures(now)));
  }

  /** Passes to {@code reader} how far Envoys have acknowledged each limit, with its rule. */
  public void forEachAcknowledged(BiConsumer<Rule, Acknowledgements> reader) {
    steered.forEach((limit, of) -> {
      Acknowledgements acknowledged = server.acknowledgements(limit);
      if (acknowledged != null) {
        reader.accept(of.rule(), acknowledged);
      }
    });
  }

  /**
   * Passes to {@code reader} how many requests Envoys refused because of each limit under its
   * current rule, as far as their logs show.
   */
  public void forEachRefusals(BiConsumer<Rule, Long> reader) {
    steered.values().forEach(of -> reader.accept(of.rule(), of.refusals()));
  }

  /** Returns how many limits are kept from rising because too much of the log is missing. */
  public long held() {
    return steered.values().stream().filter(SharedLimit::held).count();
  }

  /** Returns how many node ids have several open streams, which divide their share. */
  public long sharedNodes() {
    return server.sharedNodes();
  }

  /** Returns how many Envoys were rejected: too many, or without a permitted node id. */
  public long rejected() {
    return server.rejected();
  }

  /** Stops pushing; Envoys keep the last limits. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private SharedLimit follow(
      ClusterLimit limit, @Nullable SharedLimit current, Rule rule, ConcurrencyRule terms) {
    if (current == null) {
      LOG.info("{} is controlled, from {} requests on", inWords(limit), terms.range().initial());
      return new SharedLimit(rule, terms, listener, time.monotonicNanos());
    }
    current.follow(rule, terms);
    return current;
  }

  private static String inWords(ClusterLimit limit) {
    return "max_requests of cluster "
        + limit.cluster()
        + (limit.priority() == Priority.HIGH ? " for high priority" : "");
  }

  private void acknowledged(ClusterLimit limit, int requests, long sinceNanos) {
    SharedLimit of = steered.get(limit);
    if (of != null) {
      of.acknowledged(requests, sinceNanos);
    }
  }

  private void later(long nanos, Runnable task) {
    var _ = timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Ticks. Catches everything, errors included, because the executor cancels a task that throws.
   */
  void tickAndGoOn() {
    try {
      tick();
    } catch (Throwable e) {
      LOG.error("limits could not be pushed", e);
    }
  }
}
