package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitServer.Mark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Limits for fake Envoys, divided and served in this thread: every message is processed before a
 * call returns. One replica by default, which visits the steering one at once when it has news, and
 * accepts three streams; the listener fails when 13 requests are acknowledged. With more replicas,
 * the test makes their visits, and the first one has the record.
 */
final class ServedLimits implements AutoCloseable {
  private static final LimitServerSettings SETTINGS =
      new LimitServerSettings(
          "concurrency_limits", 3, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ZERO);

  private final LimitServerSettings settings;
  private final SettableTime time = new SettableTime();
  private final List<Integer> acknowledgedLimits = new ArrayList<>();
  private final List<Runnable> later = new ArrayList<>();
  private final List<Replica> replicas = new ArrayList<>();
  private SharePlan record = SharePlan.EMPTY;
  private long epoch = 1;
  private LimitDivision division;
  private int visits;

  ServedLimits() {
    this(SETTINGS);
  }

  ServedLimits(LimitServerSettings settings, ServerInterceptor... interceptors) {
    this(1, settings, interceptors);
  }

  private ServedLimits(int count, LimitServerSettings settings, ServerInterceptor... interceptors) {
    this.settings = settings;
    for (int i = 0; i < count; i++) {
      replicas.add(new Replica("replica " + i, count == 1, interceptors));
    }
    division = steering();
  }

  /** Starts several replicas with the same settings. */
  static ServedLimits on(int replicas) {
    return new ServedLimits(replicas, SETTINGS.withMaxStreams(1_000));
  }

  LimitServer limits() {
    return replicas.getFirst().limits;
  }

  ManagedChannel channel() {
    return replicas.getFirst().channel;
  }

  Replica replica(int index) {
    return replicas.get(index);
  }

  SettableTime time() {
    return time;
  }

  LimitDivision division() {
    return division;
  }

  /** Returns the published plan. */
  SharePlan record() {
    return record;
  }

  /** Lets another replica steer, which has this record. */
  void steerFrom(SharePlan last) {
    epoch++;
    record = last;
    division = steering();
  }

  /** Returns the values that the listener received, in order. */
  List<Integer> acknowledged() {
    return acknowledgedLimits;
  }

  /** Returns how many visits were made because of news. */
  int visits() {
    return visits;
  }

  void offer(String cluster, Priority priority, int requests) {
    division.offer(new ClusterLimit(cluster, priority), requests);
    visitAll();
  }

  void withdraw(String cluster, Priority priority) {
    division.withdraw(new ClusterLimit(cluster, priority));
    visitAll();
  }

  void reported(ClusterLimit limit, String node, long inFlight, long refused) {
    division.demand(limit, node, inFlight, refused, time.monotonicNanos());
  }

  void tick() {
    replicas.forEach(replica -> replica.limits.tick());
    visitAll();
  }

  /** Lets each replica visit, until all have the newest plan. */
  void visitAll() {
    SharePlan before;
    do {
      before = record;
      replicas.forEach(Replica::visit);
    } while (record != before);
  }

  /** Lets a pause pass, and runs the tasks that wait for its end. */
  void pause(Duration pause) {
    time.pass(pause);
    List<Runnable> due = List.copyOf(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  long rejected() {
    return limits().rejected();
  }

  @Override
  public void close() {
    replicas.forEach(Replica::stop);
  }

  private LimitDivision steering() {
    return LimitDivision.from(record, epoch, settings, this::acknowledged, time.monotonicNanos());
  }

  /** Publishes what has changed. */
  void round() {
    SharePlan plan = division.round(time.monotonicNanos());
    if (plan.number() > record.number()) {
      record = SharePlan.parse(plan.text(), plan.number());
    }
  }

  private void acknowledged(ClusterLimit limit, int requests, long sinceNanos) {
    if (requests == 13) {
      throw new IllegalStateException("a listener that fails");
    }
    assertThat(limit.cluster()).isNotEmpty();
    acknowledgedLimits.add(requests);
  }

  /** A replica with the Envoys that are connected to it. */
  final class Replica {
    private final String name;
    private final LimitServer limits;
    private final Server server;
    private final ManagedChannel channel;

    private Replica(String name, boolean prompt, ServerInterceptor... interceptors) {
      this.name = name;
      limits =
          new LimitServer(
              settings,
              time,
              (_, task) -> later.add(task),
              () -> {
                visits++;
                if (prompt) {
                  visit();
                }
              });
      String address = UUID.randomUUID().toString();
      InProcessServerBuilder builder = InProcessServerBuilder.forName(address).directExecutor();
      for (BindableService service : limits.services()) {
        builder.addService(ServerInterceptors.intercept(service, interceptors));
      }
      try {
        server = builder.build().start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      channel = InProcessChannelBuilder.forName(address).directExecutor().build();
    }

    LimitServer limits() {
      return limits;
    }

    ManagedChannel channel() {
      return channel;
    }

    /** Reports its streams, and applies the plan that follows from all reports. */
    void visit() {
      Mark mark = limits.begin();
      report();
      round();
      apply(record, mark);
    }

    void report() {
      division.reported(name, limits.streams(), time.monotonicNanos());
    }

    void apply(SharePlan plan, Mark mark) {
      limits.apply(plan, "e" + epoch, mark);
    }

    /** Lets the steering replica notice that there is no report of it any more. */
    void vanish() {
      division.gone(name);
    }

    private void stop() {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }
}
