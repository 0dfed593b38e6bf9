package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three replicas that compute a limit for four real Envoys with uneven load, in front of an
 * upstream that is offered more than its capacity: requests are served during each fault, and the
 * limit adapts after it. {@code bin/bench overload --replicas 3} measures goodput.
 */
@RealEnvoy
@RealRedis
@RealPostgres
@SuppressWarnings("NullAway.Init") // by start()
class FleetFaultsTest {
  /** An eighth of the usual capacity, which half of a processor offers and limits, too. */
  private static final Capacity CAPACITY =
      new Capacity(10, Duration.ofMillis(640), Capacity.USUAL.lengths());

  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(8);
  private static final long SEED = 1;
  private static final int SERVICE_TIMES = 2;
  private static final int LONGEST = 3_600; // seconds

  @TempDir private Path folder;
  private final Undo started = new Undo();
  private final TimeSource time = TimeSource.system();
  private Fleet fleet;
  private FleetLoad load;
  private FleetStory story;
  private Course course;

  @AfterEach
  void stop() throws IOException {
    started.close();
  }

  @Test
  void theLimitSurvivesTheEndOfTheSteeringReplica() throws Exception {
    start(StoreKind.REDIS, 2);
    through(Fault.KILL, steering(), 6);
  }

  @Test
  @Tag("thorough")
  void theLimitSurvivesAllFaults() throws Exception {
    start(StoreKind.REDIS, 5);
    throughAllFaults();
  }

  @Test
  @Tag("thorough")
  void theLimitSurvivesAllFaultsOnPostgres() throws Exception {
    start(StoreKind.POSTGRESQL, 2);
    throughAllFaults();
  }

  private void throughAllFaults() throws IOException, InterruptedException {
    for (Fault fault : Fault.values()) {
      through(fault, steering(), 15);
      Replica steering = steering();
      Replica another =
          fleet.replicas().stream()
              .filter(replica -> replica != steering)
              .findFirst()
              .orElseThrow();
      through(fault, another, 15);
    }
  }

  private void through(Fault fault, Replica replica, int seconds)
      throws IOException, InterruptedException {
    story.through(fault, replica, seconds);
    awaitLimit();
  }

  /** Waits until a replica computes a limit below the initial one, and Envoys refuse by it. */
  private void awaitLimit() {
    int from = load.second();
    await()
        .untilAsserted(() -> {
          assertThat(Gate.ENVOY.limit(steering()))
              .isBetween(FleetDemo.MIN + 0., FleetDemo.MAX - 1.);
          Figures figures = course.figures(from, load.second() + 1);
          assertThat(figures.refused()).as("%s", story).isPositive();
          assertThat(figures.good()).as("%s", story).isPositive();
        });
  }

  private Replica steering() {
    return await().until(fleet::steering, Optional::isPresent).orElseThrow();
  }

  private void start(StoreKind store, int times) throws Exception {
    Chance chance = new Chance(SEED, SERVICE_TIMES);
    load =
        FleetLoad.begin(
            CAPACITY.workers(),
            () -> (long) (CAPACITY.lengths().draw(chance) * CAPACITY.service().toNanos()),
            time,
            started);
    fleet =
        Fleet.start(
            new FleetSettings(
                EnvoyProgram.path(),
                Gate.ENVOY,
                store,
                3,
                FleetSettings.UNEVEN,
                Gate.ENVOY.policy(FleetDemo.MIN, FleetDemo.MAX),
                Duration.ofMillis(500),
                Map.of()),
            load.port(),
            folder,
            started);
    double perSecond = times * CAPACITY.perSecond();
    course =
        load.start(
            fleet.envoys(),
            new FleetLoad.Arrivals(
                LONGEST, _ -> perSecond, CAPACITY.deadline(), CLIENT_TIMEOUT, SEED));
    story = new FleetStory(load, course, System.out);
    awaitLimit();
    story.stage("undisturbed", 1);
  }
}
