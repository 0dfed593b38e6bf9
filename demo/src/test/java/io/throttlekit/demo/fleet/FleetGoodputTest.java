package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three replicas that compute a limit for four real Envoys with uneven load, in front of an
 * upstream that is offered more than its capacity. Goodput is the share of the capacity that is
 * answered in time.
 */
@RealEnvoy
@RealRedis
@RealPostgres
@Tag("alone")
@SuppressWarnings("NullAway.Init") // by start()
class FleetGoodputTest {
  private static final Capacity CAPACITY = Capacity.USUAL;
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(1);
  private static final long SEED = 1;
  private static final int SERVICE_TIMES = 2;
  private static final int LONGEST = 1_000; // seconds

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

  /** Compared with that before, as on a busy machine; the thorough tests hold the promise. */
  @Test
  void survivesTheEndOfTheSteeringReplica() throws Exception {
    start(StoreKind.REDIS, 2, 14);
    double before = goodput(8, 12);
    story.through(Fault.KILL, fleet.steering().orElseThrow(), 6);
    assertThat(goodput(14, end()))
        .as("%s, goodput before %.3f", story, before)
        .isGreaterThan(0.7 * before);
  }

  @Test
  @Tag("thorough")
  void staysHighThroughFaultsAtTwiceTheCapacity() throws Exception {
    start(StoreKind.REDIS, 2, 60);
    throughAllFaults();
  }

  @Test
  @Tag("thorough")
  void staysHighThroughFaultsAtFiveTimesTheCapacity() throws Exception {
    start(StoreKind.REDIS, 5, 60);
    throughAllFaults();
  }

  @Test
  @Tag("thorough")
  void staysHighThroughFaultsAtTwiceTheCapacityOnPostgres() throws Exception {
    start(StoreKind.POSTGRESQL, 2, 60);
    throughAllFaults();
  }

  @Test
  @Tag("thorough")
  void staysHighThroughFaultsAtFiveTimesTheCapacityOnPostgres() throws Exception {
    start(StoreKind.POSTGRESQL, 5, 60);
    throughAllFaults();
  }

  private void throughAllFaults() throws IOException, InterruptedException {
    for (Fault fault : Fault.values()) {
      story.through(fault, fleet.steering().orElseThrow(), 15);
      assertThat(load.await(load.second() + 5)).isTrue();
      Replica steering = fleet.steering().orElseThrow();
      Replica another =
          fleet.replicas().stream()
              .filter(replica -> replica != steering)
              .findFirst()
              .orElseThrow();
      story.through(fault, another, 15);
      assertThat(load.await(load.second() + 5)).isTrue();
    }
    int end = end();
    int from = story.stages().getFirst().to() / 2; // before, the limit adapts
    double worst = 1;
    for (int i = from; i + 10 <= end; i++) {
      double goodput = goodput(i, i + 10);
      if (goodput < worst) {
        worst = goodput;
        System.out.printf("goodput %.3f from %d to %d s%n", goodput, i, i + 10);
      }
    }
    System.out.printf("goodput %.3f, worst 10 s %.3f%n", goodput(from, end), worst);
    assertThat(goodput(from, end)).as("%s", story).isGreaterThanOrEqualTo(0.95);
    assertThat(worst).as("%s", story).isGreaterThanOrEqualTo(0.9);
  }

  /** Returns the first second whose requests may not all have ended. */
  private int end() throws InterruptedException {
    int end = load.second();
    assertThat(load.await(end + 2)).isTrue();
    return end;
  }

  private double goodput(int from, int to) {
    return course.figures(from, to).goodput(CAPACITY.perSecond() * (to - from));
  }

  private void start(StoreKind store, int times, int without) throws Exception {
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
    assertThat(load.await(without)).isTrue();
    story.stage("undisturbed");
  }
}
