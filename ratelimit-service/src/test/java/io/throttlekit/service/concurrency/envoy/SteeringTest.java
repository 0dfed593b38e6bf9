package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.envoy.xds.LimitServer;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.Logged;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.service.server.Book;
import io.throttlekit.steering.Acknowledgements;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fake Envoys in the thread of the test: every message is processed before a call returns. */
class SteeringTest {
  private static final long MILLI = 1_000_000L;

  private static final LimitServerSettings AT_ONCE =
      new LimitServerSettings(
          "concurrency_limits",
          1_000,
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ZERO);

  private final ManualTime time = new ManualTime(0);
  private final Steering steering = alone(time);
  private Server server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws IOException {
    String name = UUID.randomUUID().toString();
    InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
    steering.services().forEach(builder::addService);
    server = builder.build().start();
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  @AfterEach
  void stop() {
    steering.close();
    channel.shutdownNow();
    server.shutdownNow();
  }

  @Test
  void anEnvoyReceivesTheLimitInferredFromItsReports() {
    follow("min: 4, max: 100");
    FakeEnvoy envoy = FakeEnvoy.connect(channel, "a");
    envoy.obeyAll();
    assertThat(envoy.share("up")).isEqualTo(20);
    for (int second = 0; second < 10; second++) {
      second("a", Readings.answered(20 * MILLI));
      envoy.obeyAll();
    }
    int risen = envoy.share("up");
    assertThat(risen).isBetween(21, 100);
    for (int second = 0; second < 60; second++) {
      second("a", Readings.TIMED_OUT);
      envoy.obeyAll();
    }
    assertThat(envoy.share("up")).isEqualTo(4);
  }

  @Test
  void sharesFollowTheDemandOfEnvoys() {
    follow("min: 20, max: 20");
    FakeEnvoy busy = FakeEnvoy.connect(channel, "busy");
    FakeEnvoy idle = FakeEnvoy.connect(channel, "idle");
    for (int tick = 0; tick < 20; tick++) {
      report("busy", Readings.load(9, 9));
      for (int i = 0; i < 20; i++) {
        end("busy", Readings.REFUSED);
      }
      report("idle", Readings.load(0, 0));
      time.advance(500);
      steering.tick();
      busy.obeyAll();
      idle.obeyAll();
    }
    assertThat(busy.share("up")).isGreaterThan(15);
    assertThat(idle.share("up")).isPositive();
    assertThat(busy.share("up") + idle.share("up")).isLessThanOrEqualTo(20);
  }

  @Test
  void countsAndLogsRejectedEnvoys() {
    for (int i = 0; i < 1_000; i++) {
      FakeEnvoy.connect(channel, "edge-" + i);
    }
    steering.tick();
    assertThat(steering.rejected()).isZero();
    try (Logged logged = Logged.by(LimitServer.class)) {
      FakeEnvoy.connect(channel, "one-more");
      assertThat(steering.rejected()).isEqualTo(1);
      steering.tick();
      assertThat(logged.lines())
          .containsExactly(
              "WARNING Envoy one-more was rejected and has no share: no more than 1000 streams");
    }
  }

  @Test
  void twoEnvoysWithOneNodeIdAreReported() {
    follow("min: 20, max: 20");
    FakeEnvoy first = FakeEnvoy.connect(channel, "twin");
    first.obeyAll();
    steering.tick();
    try (Logged logged = Logged.by(LimitServer.class)) {
      FakeEnvoy second = FakeEnvoy.connect(channel, "twin");
      settle(first, second);
      assertThat(first.share("up") + second.share("up")).isEqualTo(20);
      assertThat(steering.sharedNodes()).isEqualTo(1);
      assertThat(logged.lines())
          .containsExactly(
              "WARNING node id twin has 2 streams, which divide its share: give each Envoy its"
                  + " own");
    }
  }

  @Test
  void anErrorDoesNotEndTheSteering() {
    AtomicReference<@Nullable Error> thrown = new AtomicReference<>(new StackOverflowError());
    TimeSource failing =
        new TimeSource() {
          @Override
          public long wallMillis() {
            return 0;
          }

          @Override
          public long monotonicNanos() {
            Error error = thrown.getAndSet(null);
            if (error != null) {
              throw error;
            }
            return 0;
          }
        };
    try (Steering surviving = alone(failing);
        Logged logged = Logged.by(Steering.class)) {
      surviving.tick();
      assertThat(logged.lines()).containsExactly("SEVERE limits could not be pushed");
      surviving.tick();
    }
  }

  /** It applies its share to the next requests, even if nothing is in flight now. */
  @Test
  void theShareOfADisconnectedEnvoyStaysReservedForTheHold() {
    follow("min: 20, max: 20");
    FakeEnvoy first = FakeEnvoy.connect(channel, "first");
    FakeEnvoy second = FakeEnvoy.connect(channel, "second");
    settle(first, second);
    int before = second.share("up");
    first.disconnect();
    report("first", Readings.load(0, 0));
    steering.tick();
    time.advance(14_900);
    steering.tick();
    settle(second, second);
    assertThat(second.share("up")).isEqualTo(before);
    time.advance(100);
    steering.tick();
    settle(second, second);
    assertThat(second.share("up")).isEqualTo(20);
  }

  @Test
  void reportsAcknowledgedAndReservedShares() {
    follow("min: 20, max: 20");
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(0, 0, 0));
    FakeEnvoy first = FakeEnvoy.connect(channel, "first");
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(1, 1, 0));
    first.obeyAll();
    steering.tick();
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(1, 0, 0));
    FakeEnvoy second = FakeEnvoy.connect(channel, "second"); // the share of the first has to shrink
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(2, 2, 10));
    settle(first, second);
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(2, 0, 0));
    first.disconnect();
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(1, 0, 10));
    time.advance(15_000);
    steering.tick();
    settle(second);
    assertThat(acknowledgements()).isEqualTo(new Acknowledgements(1, 0, 0));
    steering.follow(PolicyBook.of(Map.of()));
    List<Acknowledgements> none = new ArrayList<>();
    steering.forEachAcknowledged((_, acknowledged) -> none.add(acknowledged));
    assertThat(none).isEmpty();
  }

  @Test
  void logsEveryConnectAndDisconnectOfAnEnvoy() {
    try (Logged logged = Logged.by(LimitServer.class)) {
      FakeEnvoy first = FakeEnvoy.connect(channel, "first");
      FakeEnvoy.connect(channel, "second");
      first.disconnect();
      assertThat(logged.lines()).isEmpty(); // event loops must not write to the log
      steering.tick();
      assertThat(logged.lines())
          .containsExactly(
              "INFO Envoy first subscribed to its limits (connected: 1)",
              "INFO Envoy second subscribed to its limits (connected: 2)",
              "INFO Envoy first left: its shares stay reserved for up to 15 s (connected: 1)");
    }
  }

  @Test
  void countsRefusalsOfEnvoysByRule() {
    follow("");
    end("a", Readings.REFUSED);
    end("b", Readings.REFUSED);
    end("a", Readings.answered(20 * MILLI));
    end("a", new Reading(Kind.LIMIT_REACHED, "other", 0, List.of(), true, "", ""));
    assertThat(refusals()).containsExactly(Map.entry("up", 2L));
    follow("max: 30");
    assertThat(refusals()).as("the same rule").containsExactly(Map.entry("up", 2L));
    steering.follow(
        Book.of(
            """
            domain: shop
            descriptors:
              - {key: other, concurrency: {gate: envoy, cluster: up}}
            """));
    assertThat(refusals()).containsExactly(Map.entry("other", 0L));
  }

  private Acknowledgements acknowledgements() {
    List<Acknowledgements> all = new ArrayList<>();
    steering.forEachAcknowledged((_, acknowledged) -> all.add(acknowledged));
    assertThat(all).hasSize(1);
    return all.getFirst();
  }

  private Map<String, Long> refusals() {
    Map<String, Long> refusals = new HashMap<>();
    steering.forEachRefusals((rule, count) -> refusals.put(rule.path(), count));
    return refusals;
  }

  @Test
  void aRemovedRuleLeavesEnvoysToTheirBootstrap() {
    follow("min: 20, max: 20");
    FakeEnvoy envoy = FakeEnvoy.connect(channel, "a");
    envoy.obeyAll();
    assertThat(envoy.share("up")).isEqualTo(20);
    steering.follow(
        Book.of(
            """
            domain: shop
            descriptors:
              - {key: up, rate_limit: {unit: hour, requests_per_unit: 1}}
            """));
    envoy.obeyAll();
    assertThat(envoy.share("up")).isEqualTo(-1);
  }

  /** A reload during a push waits until the push is complete. */
  @Test
  void aRuleRemovedDuringAPushIsWithdrawn() throws Exception {
    AtomicReference<@Nullable Runnable> then = new AtomicReference<>();
    TimeSource halting =
        new TimeSource() {
          @Override
          public long wallMillis() {
            return 0;
          }

          @Override
          public long monotonicNanos() {
            Runnable first = then.getAndSet(null);
            if (first != null) {
              first.run();
            }
            return 0;
          }
        };
    Steering halted = alone(halting);
    halted.follow(steered("min: 7, max: 7"));
    Thread reload = Thread.ofPlatform().unstarted(() -> halted.follow(PolicyBook.of(Map.of())));
    halted.reported("a", 1, Readings.load(3, 3), 0);
    then.set(() ->
        then.set(() -> { // within the push of the limit
          reload.start();
          await()
              .until(() ->
                  Set.of(Thread.State.BLOCKED, Thread.State.TERMINATED)
                      .contains(reload.getState()));
        }));
    halted.tick();
    reload.join();
    try (Steering _ = halted) {
      InProcessServerBuilder builder = InProcessServerBuilder.forName("halted").directExecutor();
      halted.services().forEach(builder::addService);
      Server other = builder.build().start();
      ManagedChannel client = InProcessChannelBuilder.forName("halted").directExecutor().build();
      FakeEnvoy envoy = FakeEnvoy.connect(client, "a");
      envoy.obeyAll();
      assertThat(envoy.share("up")).isEqualTo(-1);
      client.shutdownNow();
      other.shutdownNow();
    }
    assertThat(then.get()).as("reached").isNull();
  }

  @Test
  void aReloadKeepsTheLearnedLimit() {
    follow("min: 4, max: 100");
    FakeEnvoy envoy = FakeEnvoy.connect(channel, "a");
    for (int second = 0; second < 10; second++) {
      second("a", Readings.answered(20 * MILLI));
      envoy.obeyAll();
    }
    int found = envoy.share("up");
    assertThat(found).isGreaterThan(20);
    follow("min: 4, max: 100");
    envoy.obeyAll();
    assertThat(envoy.share("up")).isEqualTo(found);
    follow("min: 4, max: 21, algorithm: gradient2");
    envoy.obeyAll();
    assertThat(envoy.share("up")).isEqualTo(21);
  }

  @Test
  void reportsOfOtherClustersAreIgnored() {
    follow("min: 4, max: 100");
    FakeEnvoy envoy = FakeEnvoy.connect(channel, "a");
    for (int second = 0; second < 10; second++) {
      time.advance(1_000);
      for (int i = 0; i < 100; i++) {
        end("a", new Reading(Kind.TIMED_OUT, "other", 0, List.of(), true, "", ""));
        end("a", new Reading(Kind.LIMIT_REACHED, "", 0, List.of(), true, "", ""));
        report("a", new ClusterLoad("other", 100, 100, 100, 0, 0, 1_000 * MILLI));
      }
      steering.tick();
      envoy.obeyAll();
    }
    assertThat(envoy.share("up")).isEqualTo(20);
  }

  /** Shares change with every report, so that they are never all acknowledged at once. */
  @Test
  void theLimitRisesDespiteAnEnvoyThatNeverAcknowledges() {
    follow("min: 4, max: 300");
    List<FakeEnvoy> envoys = new ArrayList<>();
    for (String node : List.of("a", "b", "c", "d")) {
      envoys.add(FakeEnvoy.connect(channel, node));
    }
    FakeEnvoy.connect(channel, "silent");
    envoys.forEach(FakeEnvoy::obeyAll);
    int before = limit();
    for (int second = 0; second < 60; second++) {
      for (int half = 0; half < 2; half++) {
        time.advance(500);
        for (int i = 0; i < 4; i++) {
          String node = List.of("a", "b", "c", "d").get(i);
          report(node, Readings.load(10 + (second + i) % 4 * 10, 25));
          for (int request = 0; request < 25; request++) {
            end(node, Readings.answered(20 * MILLI));
          }
        }
        steering.tick();
        envoys.forEach(FakeEnvoy::obeyAll);
      }
    }
    steering.forEachAcknowledged(
        (_, acknowledged) -> assertThat(acknowledged.unacknowledged()).isPositive());
    assertThat(before).isEqualTo(20);
    assertThat(limit()).isGreaterThan(60);
  }

  private int limit() {
    List<Integer> seen = new ArrayList<>();
    steering.forEach((_, figures) -> seen.add(figures.limit()));
    return seen.getFirst();
  }

  private void follow(String terms) {
    steering.follow(steered(terms));
  }

  private static PolicyBook steered(String terms) {
    return Book.of(
        """
        domain: shop
        descriptors:
          - {key: up, concurrency: {gate: envoy, cluster: up, %s}}
        """
            .formatted(terms));
  }

  private void settle(FakeEnvoy... envoys) {
    for (int round = 0; round < 4; round++) {
      for (FakeEnvoy envoy : envoys) {
        envoy.obeyAll();
      }
      steering.tick();
    }
  }

  /** Sends a second in which the whole limit is in flight. */
  private void second(String node, Reading reading) {
    report(node, Readings.load(100, 100));
    for (int half = 0; half < 2; half++) {
      time.advance(500);
      for (int i = 0; i < 50; i++) {
        end(node, reading);
      }
      steering.tick();
    }
  }

  private void end(String node, Reading reading) {
    long now = time.monotonicNanos();
    steering.ended(node, reading, now - reading.rttNanos(), now);
  }

  private void report(String node, ClusterLoad load) {
    steering.reported(node, 1, load, time.monotonicNanos());
  }

  private static Steering alone(TimeSource time) {
    return new Steering(
        time,
        AT_ONCE,
        ReplicaMembership.alone(time, "only"),
        ConcurrencyListener.NONE,
        SteeringListener.NONE);
  }
}
