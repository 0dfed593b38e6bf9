package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.steering.InMemorySteeringExchange;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ManualScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Replicas that steer fake Envoys through one exchange, in the thread of the test and in simulated
 * time. Each has a monotonic clock with an origin of its own. After each step, what all Envoys
 * apply together is compared with the limit.
 */
final class SteeringFleet implements AutoCloseable {
  static final LimitServerSettings SETTINGS =
      new LimitServerSettings(
          "concurrency_limits",
          1_000,
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ZERO);

  private static final long STEP_MILLIS = 10;

  final ManualTime time = new ManualTime(1_000);
  final ManualScheduler timer = new ManualScheduler(time);
  final InMemorySteeringExchange exchange = new InMemorySteeringExchange(time);
  final List<Replica> replicas = new ArrayList<>();
  final List<FakeEnvoy> envoys = new ArrayList<>();

  /** What all Envoys may apply together; checked after each step. */
  int limit = Integer.MAX_VALUE;

  /** What happens to the visits of a replica. */
  enum Network {
    UP,
    /** Visits fail without effect. */
    DOWN,
    /** Visits take effect, and fail. */
    ANSWERS_LOST,
    /** Visits wait until they are {@linkplain Replica#deliver delivered}. */
    HELD
  }

  /** One replica. */
  final class Replica implements AutoCloseable {
    final String id;
    final Events events = new Events();
    final Steering steering;
    private final Server server;
    private final ManagedChannel channel;
    private final Deque<Runnable> held = new ArrayDeque<>();
    private final TimeSource clock;
    Network network = Network.UP;
    int visits;

    private Replica(String id, long incarnation) {
      this.id = id;
      long origin = replicas.size() * 1_000_000_000_000L;
      this.clock =
          new TimeSource() {
            @Override
            public long wallMillis() {
              return time.wallMillis();
            }

            @Override
            public long monotonicNanos() {
              return origin + time.monotonicNanos();
            }
          };
      SteeringExchange faulty =
          new SteeringExchange() {
            @Override
            public CompletionStage<Answer> visit(Visit visit) {
              return Replica.this.visit(visit);
            }

            @Override
            public void close() {}
          };
      steering =
          new Steering(
              clock,
              SETTINGS,
              new ReplicaMembership(faulty, id, incarnation, true),
              ConcurrencyListener.NONE,
              events,
              timer);
      String name = UUID.randomUUID().toString();
      InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
      steering.services().forEach(builder::addService);
      try {
        server = builder.build().start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      channel = InProcessChannelBuilder.forName(name).directExecutor().build();
      steering.start();
    }

    private CompletionStage<SteeringExchange.Answer> visit(SteeringExchange.Visit visit) {
      visits++;
      return switch (network) {
        case UP -> exchange.visit(visit);
        case DOWN -> CompletableFuture.failedStage(StoreException.late("down"));
        case ANSWERS_LOST -> {
          var _ = exchange.visit(visit);
          yield CompletableFuture.failedStage(StoreException.late("lost"));
        }
        case HELD -> {
          CompletableFuture<SteeringExchange.Answer> answer = new CompletableFuture<>();
          held.add(() -> exchange.visit(visit).thenAccept(answer::complete));
          yield answer;
        }
      };
    }

    /** Lets the visits that wait take effect now. */
    void deliver() {
      network = Network.UP;
      List.copyOf(held).forEach(Runnable::run);
      held.clear();
    }

    /** Connects an Envoy for its limits. */
    FakeEnvoy connect(String node) {
      FakeEnvoy envoy = FakeEnvoy.connect(channel, node);
      envoys.add(envoy);
      return envoy;
    }

    /** Connects an Envoy that was connected to another replica before. */
    FakeEnvoy reconnect(String node, FakeEnvoy before) {
      FakeEnvoy envoy = FakeEnvoy.reconnect(channel, node, before.version());
      envoys.remove(before);
      envoys.add(envoy);
      return envoy;
    }

    void answered(String node, long millis, int requests) {
      long nanos = millis * 1_000_000;
      for (int i = 0; i < requests; i++) {
        long now = clock.monotonicNanos();
        steering.ended(node, Readings.answered(nanos), now - nanos, now);
      }
    }

    void timedOut(String node, int requests) {
      long now = clock.monotonicNanos();
      for (int i = 0; i < requests; i++) {
        steering.ended(node, Readings.TIMED_OUT, now - 1_000_000_000, now);
      }
    }

    void refused(String node, int requests) {
      for (int i = 0; i < requests; i++) {
        long now = clock.monotonicNanos();
        steering.ended(node, Readings.REFUSED, now, now);
      }
    }

    void load(String node, long stream, long inProgress, long succeeded) {
      steering.reported(node, stream, Readings.load(inProgress, succeeded), clock.monotonicNanos());
    }

    boolean steers() {
      return steering.figures().epoch() > 0;
    }

    /** Returns the limit of the record that it knows. */
    int limit() {
      return steering.figures().plan().limits().values().iterator().next();
    }

    /** Vanishes: no visit any more, and its streams end without a word to others. */
    void crash() {
      network = Network.DOWN;
      channel.shutdownNow();
      server.shutdownNow();
      replicas.remove(this);
    }

    @Override
    public void close() {
      steering.close();
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  /** Counts events. */
  static final class Events implements SteeringListener {
    final List<String> rejections = new ArrayList<>();
    final List<String> sameIds = new ArrayList<>();
    long begun;
    long ended;
    long failures;
    long cutOffs;
    long reportsDropped;
    long outcomesDropped;

    @Override
    public void began(long epoch) {
      begun++;
    }

    @Override
    public void ended() {
      ended++;
    }

    @Override
    public void visitFailed(String reason) {
      failures++;
    }

    @Override
    public void cutOff() {
      cutOffs++;
    }

    @Override
    public void rejected(String reason) {
      rejections.add(reason);
    }

    @Override
    public void reportsDropped(long reports) {
      reportsDropped += reports;
    }

    @Override
    public void outcomesDropped(long outcomes) {
      outcomesDropped += outcomes;
    }

    @Override
    public void sameNode(String node) {
      sameIds.add(node);
    }
  }

  /** Starts replicas with the ids {@code a}, {@code b} and so on, of which the first one steers. */
  SteeringFleet(int count, PolicyBook book) {
    for (int i = 0; i < count; i++) {
      start(String.valueOf((char) ('a' + i)), i).steering.follow(book);
    }
  }

  Replica start(String id, long incarnation) {
    Replica replica = new Replica(id, incarnation);
    replicas.add(replica);
    return replica;
  }

  Replica replica(int index) {
    return replicas.get(index);
  }

  Replica steeringOne() {
    List<Replica> steering = replicas.stream().filter(Replica::steers).toList();
    assertThat(steering).hasSize(1);
    return steering.getFirst();
  }

  /** Lets time pass; Envoys acknowledge what they receive. */
  void pass(long millis) {
    for (long passed = 0; passed < millis; passed += STEP_MILLIS) {
      time.advance(STEP_MILLIS);
      timer.run();
      envoys.forEach(FakeEnvoy::obeyAll);
      assertThat(applied()).as("applied by all Envoys").isLessThanOrEqualTo(limit);
    }
  }

  /** Returns what all Envoys apply together, those without a stream included. */
  int applied() {
    return envoys.stream().mapToInt(envoy -> Math.max(0, envoy.share("up"))).sum();
  }

  @Override
  public void close() {
    List.copyOf(replicas).forEach(Replica::close);
  }
}
