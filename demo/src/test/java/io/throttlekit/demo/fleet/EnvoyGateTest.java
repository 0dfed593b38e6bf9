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
import java.util.Optional;
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

  /** Readings that count, in and after each fault. */
  private static final int MIN_COUNTED = 20;

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
    through(Fault.KILL, steering(), 6);
    through(Fault.SUSPEND, steering(), 5);
    through(Fault.CUT, another(), 8); // its streams end after 5 s
    assertSumsAndShares();
  }

  /** Their Envoys notice by pings and health checks before their shares are given to others. */
  @Test
  void sharesNeverSumToMoreThanTheLimitWhileAReplicaWithEnvoysHangs() throws Exception {
    start(StoreKind.REDIS, 5);
    through(Fault.SUSPEND, withEnvoys(), 8);
    through(Fault.SUSPEND, withEnvoys(), 25); // longer than the hold and what precedes it
    assertSumsAndShares();
  }

  @Test
  @Tag("thorough")
  void sharesNeverSumToMoreThanTheLimitWhileAReplicaWithEnvoysHangsForAMinute() throws Exception {
    start(StoreKind.REDIS, 5);
    through(Fault.SUSPEND, withEnvoys(), 60);
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
      through(fault, steering(), 20);
      through(fault, another(), 20);
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
    List<Shares.Share> envoys =
        fleet.envoys().stream().<Shares.Share>map(envoy -> envoy::maxRequests).toList();
    shares = new Shares(envoys, LIMIT, time);
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
    story.stage("undisturbed", without);
    awaitShares();
  }

  /** Runs through a fault, after which each Envoy has a share again, however long that takes. */
  private void through(Fault fault, Replica replica, int seconds)
      throws IOException, InterruptedException {
    int before = shares.figures().counted();
    story.through(fault, replica, seconds);
    awaitShares();
    await().until(() -> shares.figures().counted() >= before + MIN_COUNTED);
  }

  private void awaitShares() {
    await()
        .untilAsserted(() ->
            assertThat(List.copyOf(shares.newest()))
                .hasSameSizeAs(fleet.envoys())
                .allSatisfy(share -> assertThat(share).isPositive()));
  }

  private Replica steering() {
    return await().until(fleet::steering, Optional::isPresent).orElseThrow();
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
    await().until(() -> shares.figures().max() >= LIMIT);
    Shares.Figures figures = shares.figures();
    System.out.println(figures);
    assertThat(figures.violations()).as("%s%s", story, figures).isEmpty();
  }
}
