package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Course;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three replicas that divide a constant limit among four real Envoys with uneven load, whose
 * streams are spread over the replicas. The shares are read from the Envoys.
 */
@RealEnvoy
@RealRedis
@RealPostgres
@SuppressWarnings("NullAway.Init") // by start()
class EnvoyGateTest {
  private static final int LIMIT = 24;
  private static final double PER_SECOND = 200; // the limit admits 120
  private static final long SERVICE_NANOS = 200_000_000L;
  private static final long SEED = 1;
  private static final Duration TIMEOUT = Duration.ofSeconds(30); // longer than any request
  private static final Duration LONGEST_AT_ZERO = Duration.ofSeconds(5);

  /** Readings of the shares; on a machine that is not busy they take less time than that. */
  private static final int LOOKS_AT_ZERO = 20;

  @TempDir private Path folder;
  private final Undo started = new Undo();
  private final TimeSource time = TimeSource.system();
  private Fleet fleet;
  private FleetLoad load;
  private FleetStory story;
  private Shares shares;

  @AfterEach
  void stop() throws IOException {
    started.close();
  }

  @Test
  void sharesNeverSumToMoreThanTheLimitThroughFaultsOfReplicas() throws Exception {
    start(StoreKind.REDIS, 5);
    story.through(Fault.KILL, steering(), 6);
    story.through(Fault.SUSPEND, steering(), 5);
    story.through(Fault.CUT, another(), 8); // its streams end after 5 s
    assertSumsAndShares();
  }

  /** Their Envoys notice by pings and health checks before their shares are given to others. */
  @Test
  void sharesNeverSumToMoreThanTheLimitWhileAReplicaWithEnvoysHangs() throws Exception {
    start(StoreKind.REDIS, 5);
    story.through(Fault.SUSPEND, withEnvoys(), 8);
    story.through(Fault.SUSPEND, withEnvoys(), 25); // longer than the hold and what precedes it
    assertSumsAndShares();
  }

  @Test
  @Tag("thorough")
  void sharesNeverSumToMoreThanTheLimitWhileAReplicaWithEnvoysHangsForAMinute() throws Exception {
    start(StoreKind.REDIS, 5);
    story.through(Fault.SUSPEND, withEnvoys(), 60);
    assertSumsAndShares();
  }

  @Test
  @Tag("thorough")
  void sharesNeverSumToMoreThanTheLimitThroughFaultsOfAllReplicas() throws Exception {
    start(StoreKind.REDIS, 10);
    allFaults();
  }

  @Test
  @Tag("thorough")
  void sharesNeverSumToMoreThanTheLimitOnPostgres() throws Exception {
    start(StoreKind.POSTGRESQL, 10);
    allFaults();
  }

  private void allFaults() throws IOException, InterruptedException {
    for (Fault fault : Fault.values()) {
      story.through(fault, steering(), 20);
      story.through(fault, another(), 20);
    }
    assertSumsAndShares();
  }

  private void start(StoreKind store, int without) throws Exception {
    load = FleetLoad.begin(4 * LIMIT, () -> SERVICE_NANOS, time, started);
    fleet =
        Fleet.start(
            new FleetSettings(
                EnvoyProgram.path(),
                Gate.ENVOY,
                store,
                3,
                FleetSettings.UNEVEN,
                Gate.ENVOY.policy(LIMIT, LIMIT),
                Duration.ofSeconds(10),
                Map.of()),
            load.port(),
            folder,
            started);
    shares = new Shares(fleet.shares(), LIMIT, time);
    started.push(shares::close);
    await()
        .untilAsserted(() ->
            assertThat(fleet.envoys())
                .allSatisfy(envoy -> assertThat(envoy.maxRequests()).isNotNegative()));
    Course course =
        load.start(
            fleet.envoys(),
            new FleetLoad.Arrivals(1_000, _ -> PER_SECOND, Duration.ofSeconds(10), TIMEOUT, SEED));
    story = new FleetStory(load, course, System.out);
    shares.start();
    assertThat(load.await(without)).isTrue();
    story.stage("undisturbed, shares of Envoys " + shares.newest());
  }

  private Replica steering() {
    await().until(() -> fleet.steering().isPresent());
    return fleet.steering().orElseThrow();
  }

  private Replica another() {
    Replica steering = steering();
    return fleet.replicas().stream()
        .filter(replica -> replica != steering)
        .findFirst()
        .orElseThrow();
  }

  /** Returns a replica on which an Envoy has its stream: one that does not steer, if possible. */
  private Replica withEnvoys() throws IOException {
    Replica steering = steering();
    String page = steering.page("/concurrency");
    List<Replica> some =
        fleet.replicas().stream()
            .filter(replica -> page.contains(" acknowledged replica=" + replica.name() + "\n"))
            .toList();
    assertThat(some).as(page).isNotEmpty();
    return some.stream().filter(replica -> replica != steering).findFirst().orElse(steering);
  }

  private void assertSumsAndShares() throws IOException {
    Shares.Figures figures = shares.take();
    System.out.println(figures);
    String seen = story + figures.toString();
    assertThat(figures.violations()).as(seen).isEmpty();
    assertThat(figures.max()).as(seen).isEqualTo(LIMIT);
    assertThat(figures.counted()).as(seen).isGreaterThan(figures.read() / 2);
    assertThat(figures.longestAtZeroMillis())
        .as(seen)
        .isLessThanOrEqualTo(
            Math.max(LONGEST_AT_ZERO.toMillis(), LOOKS_AT_ZERO * figures.longestGapMillis()));
    assertThat(story.stages()).as(seen).allSatisfy(stage -> assertThat(stage.good()).isPositive());
    assertThat(List.copyOf(shares.newest()))
        .as(seen)
        .allSatisfy(share -> assertThat(share).isPositive());
  }
}
