package io.throttlekit.service.concurrency.envoy;

import io.grpc.BindableService;
import io.grpc.SynchronizationContext;
import io.throttlekit.Scheduler;
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
import io.throttlekit.service.concurrency.envoy.replicas.Visits;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.steering.Acknowledgements;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes Envoys enforce the concurrency limits of all rules with {@code gate: envoy}, together with
 * the other replicas of the service. One of them steers: it runs the limit algorithm of each limit
 * and divides the limits, twice a second. Every replica collects samples from access logs and load
 * reports, and pushes shares to the Envoys that are connected to it.
 *
 * <p>The log does not name the circuit breaker of a request: the algorithms of both priorities of a
 * cluster receive all of its requests. Thread-safe; waits only for the short critical sections of
 * other threads.
 */
public final class Steering implements OutcomeListener, LoadListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Steering.class);
  // half of the logs' interval
  private static final long TICK_MILLIS = 500;

  /** Longest time that a shutdown waits for the exchange. */
  private static final long LEAVE_MILLIS = 200;

  private final TimeSource time;
  private final ReplicaMembership membership;
  private final @Nullable ScheduledThreadPoolExecutor executor;
  private final Scheduler timer;
  private final LimitServer server;
  private final ReplicaRole role;
  private final Visits visits;

  /** Runs one task at a time, of any thread, without blocking the others. */
  private final SynchronizationContext one =
      new SynchronizationContext((_, e) -> LOG.error("limits could not be pushed", e));

  /** Runs tasks of event loops: as {@link #one}, but on the thread of this instance. */
  private final Executor tasks;

  private volatile Map<ClusterLimit, Rule> rules = Map.of();
  private volatile Map<ClusterLimit, LongAdder> refusals = Map.of();
  private volatile Set<String> clusters = Set.of();
  private volatile boolean closed;
  private boolean started; // by the tasks of `one`

  /**
   * Creates an instance without limits, which is idle until {@link #start}.
   *
   * @param listener notified when a limit changes
   */
  public Steering(
      TimeSource time,
      LimitServerSettings settings,
      ReplicaMembership membership,
      ConcurrencyListener listener,
      SteeringListener events) {
    this(time, settings, membership, listener, events, null);
  }

  /**
   * @param manual runs tasks later, in the thread of a test; null for a thread of this instance
   */
  Steering(
      TimeSource time,
      LimitServerSettings settings,
      ReplicaMembership membership,
      ConcurrencyListener listener,
      SteeringListener events,
      @Nullable Scheduler manual) {
    this.time = time;
    this.membership = membership;
    this.executor =
        manual == null
            ? new ScheduledThreadPoolExecutor(
                1,
                Thread.ofPlatform().daemon().name("steering").factory(),
                new ThreadPoolExecutor.DiscardPolicy()) // tasks after the shutdown are dropped
            : null;
    this.timer = manual == null ? this::later : manual;
    this.server = new LimitServer(settings, time, timer, this::changed);
    this.role = new ReplicaRole(server, settings, membership, time, listener, events);
    // Answers come on event loops, which must not do the work of a visit.
    this.tasks =
        executor == null || membership.answersAtOnce()
            ? one
            : task -> executor.execute(() -> one.execute(task));
    this.visits = new Visits(membership.exchange(), tasks, timer, time, role);
  }

  /** Returns the services from which Envoys request their limits, to be added to a gRPC server. */
  public List<BindableService> services() {
    return server.services();
  }

  /** Starts to push limits. */
  public void start() {
    one.execute(() -> {
      started = true;
      visitIfNeeded();
    });
    tickLater();
  }

  /**
   * Applies the limits of these policies and no others. Limits that exist already keep their state.
   * Where a limit is withdrawn, Envoys apply the threshold of their bootstraps.
   */
  public void follow(PolicyBook book) {
    Map<ClusterLimit, Rule> next = new LinkedHashMap<>();
    for (Rule rule : book.rules()) {
      ConcurrencyRule terms = rule.concurrency();
      if (terms != null && terms.gate() instanceof AtEnvoys at) {
        Priority priority = at.highPriority() ? Priority.HIGH : Priority.DEFAULT;
        next.putIfAbsent(new ClusterLimit(at.cluster(), priority), rule);
      }
    }
    one.execute(() -> follow(next));
  }

  private void follow(Map<ClusterLimit, Rule> next) {
    Map<ClusterLimit, Rule> before = rules;
    Map<ClusterLimit, LongAdder> counts = new LinkedHashMap<>();
    Set<String> names = new HashSet<>();
    next.forEach((limit, rule) -> {
      Rule old = before.get(limit);
      LongAdder count = refusals.get(limit);
      boolean same =
          old != null && old.domain().equals(rule.domain()) && old.path().equals(rule.path());
      counts.put(limit, same && count != null ? count : new LongAdder());
      names.add(limit.cluster());
    });
    rules = next;
    refusals = counts;
    clusters = names;
    role.follow(next);
    if (!next.isEmpty() || !before.isEmpty()) {
      tick();
    }
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    if (!clusters.contains(reading.cluster())) {
      return;
    }
    if (reading.kind() == Kind.LIMIT_REACHED) {
      refusals.forEach((limit, count) -> {
        if (limit.cluster().equals(reading.cluster())) {
          count.increment();
        }
      });
    }
    role.ended(node, reading, beganNanos, arrivedNanos);
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    if (clusters.contains(load.cluster())) {
      role.reported(node, stream, load, arrivedNanos);
    }
  }

  @Override
  public void left(String node, long stream) {
    role.left(node, stream);
  }

  /** Pushes the current limits, divided by the demand of Envoys, if this replica steers. */
  void tick() {
    one.execute(() -> {
      long now = time.monotonicNanos();
      server.tick();
      visits.tick();
      role.tick(now);
      visitIfNeeded();
      role.ticked();
    });
  }

  private void visitIfNeeded() {
    if (!role.needsVisits()) {
      visits.pause();
      return;
    }
    if (started) {
      visits.start();
    }
    visits.soon();
  }

  /** Passes each limit that this replica steers to {@code reader} with its rule. */
  public void forEach(BiConsumer<Rule, LimiterFigures> reader) {
    SteeredLimits steered = role.steered();
    if (steered != null) {
      steered.forEach(reader, time.monotonicNanos());
    }
  }

  /**
   * Passes to {@code reader} how far Envoys have acknowledged each limit that this replica steers,
   * with its rule.
   */
  public void forEachAcknowledged(BiConsumer<Rule, Acknowledgements> reader) {
    SteeredLimits steered = role.steered();
    if (steered != null) {
      steered.forEachAcknowledged(reader);
    }
  }

  /**
   * Passes to {@code reader} the requests reserved for Envoys by each limit that this replica
   * steers, with its rule.
   */
  public void forEachReserved(BiConsumer<Rule, Long> reader) {
    SteeredLimits steered = role.steered();
    if (steered != null) {
      steered.forEachReserved(reader);
    }
  }

  /**
   * Passes to {@code reader} how many requests Envoys refused because of each limit under its
   * current rule, as far as the logs show that this replica receives.
   */
  public void forEachRefusals(BiConsumer<Rule, Long> reader) {
    Map<ClusterLimit, LongAdder> counts = refusals;
    rules.forEach((limit, rule) -> {
      LongAdder count = counts.get(limit);
      if (count != null) {
        reader.accept(rule, count.sum());
      }
    });
  }

  /** Returns how many limits are kept from rising because too much of the log is missing. */
  public long held() {
    SteeredLimits steered = role.steered();
    return steered == null ? 0 : steered.held();
  }

  /**
   * Returns how many node ids have several streams, which divide their share, if this replica
   * steers; else 0.
   */
  public long sharedNodes() {
    SteeredLimits steered = role.steered();
    return steered == null ? 0 : steered.sharedNodes();
  }

  /** Returns how many Envoys were rejected: too many, or without a permitted node id. */
  public long rejected() {
    return server.rejected();
  }

  /** Returns this replica's part. */
  public SteeringFigures figures() {
    return role.figures();
  }

  /**
   * Stops pushing; Envoys keep the last limits. Another replica may steer at once: it is notified,
   * for which this waits a moment.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    CompletableFuture<Boolean> left = new CompletableFuture<>();
    one.execute(() -> {
      visits.stop(); // first: a later visit would take the lease again
      if (!role.needsVisits()) { // the others do not know this one
        left.complete(true);
        return;
      }
      var _ =
          membership
              .exchange()
              .visit(role.leave())
              .whenComplete((_, why) -> {
                if (why == null) {
                  left.complete(true);
                } else {
                  left.completeExceptionally(why);
                }
              });
    });
    try {
      var _ = left.get(LEAVE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("other replicas notice only in seconds that this one leaves: {}", e.toString());
    }
    if (executor != null) {
      executor.shutdownNow();
    }
  }

  private void changed() {
    role.streamsChanged();
    tasks.execute(() -> {
      if (started) {
        visits.start();
      }
      visits.soon();
    });
  }

  private void later(long nanos, Runnable task) {
    ScheduledThreadPoolExecutor later = executor;
    if (later != null) {
      var _ = later.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }
  }

  private void tickLater() {
    timer.runAfter(
        TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS),
        () -> {
          if (!closed) {
            tick();
            tickLater();
          }
        });
  }
}
