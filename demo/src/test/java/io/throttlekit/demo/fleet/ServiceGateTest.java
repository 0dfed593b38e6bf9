package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Course;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three replicas that share a limit, behind two real Envoys that call them in turn and deny what
 * they cannot ask for. The upstream counts the requests in flight.
 *
 * <p>The limit is constant. One request in twenty lasts longer than the replicas need to notice
 * that another one is away.
 */
@RealEnvoy
@RealRedis
@RealPostgres
class ServiceGateTest {
  private static final int LIMIT = 12;
  private static final double PER_SECOND = 100;
  private static final long SHORT_NANOS = 80_000_000L;
  private static final long LONG_NANOS = 6_000_000_000L;
  private static final int LONG_EACH = 20;
  private static final long SEED = 1;
  private static final Duration TIMEOUT = Duration.ofSeconds(30); // longer than any request

  /**
   * Long, as an answer after it is a permit that Envoy does not know, and that lasts for its TTL.
   */
  private static final Duration FILTER_TIMEOUT = Duration.ofSeconds(10);

  private static final int PROBES_PER_SECOND = 10;

  @TempDir private Path folder;
  private final Undo started = new Undo();
  private final TimeSource time = TimeSource.system();

  @AfterEach
  void stop() throws IOException {
    started.close();
  }

  @Test
  void neverHasMoreThanTheLimitInFlightThroughFaultsOfItsReplicas() throws Exception {
    throughFaults(StoreKind.REDIS, 5, 6, 5, 4);
  }

  @Test
  @Tag("thorough")
  void neverHasMoreThanTheLimitInFlightThroughLongFaultsOfItsReplicas() throws Exception {
    throughFaults(StoreKind.REDIS, 600, 20, 5, 20);
  }

  @Test
  @Tag("thorough")
  void neverHasMoreThanTheLimitInFlightOnPostgres() throws Exception {
    throughFaults(StoreKind.POSTGRESQL, 10, 8, 5, 8);
  }

  /** Seconds without a fault, and of each fault. */
  private void throughFaults(StoreKind store, int without, int killed, int suspended, int cut)
      throws Exception {
    Chance chance = new Chance(SEED, 2);
    FleetLoad load =
        FleetLoad.begin(
            4 * LIMIT,
            () -> chance.uniform() * LONG_EACH < 1 ? LONG_NANOS : SHORT_NANOS,
            time,
            started);
    Fleet fleet =
        Fleet.start(
            new FleetSettings(
                EnvoyProgram.path(),
                Gate.SERVICE,
                store,
                3,
                List.of(1, 1),
                Gate.SERVICE.policy(LIMIT, LIMIT) + ReleaseProbe.RULE,
                FILTER_TIMEOUT,
                Map.of()),
            load.port(),
            folder,
            started);
    List<Replica> replicas = fleet.replicas();
    Course course =
        load.start(
            fleet.envoys(),
            new FleetLoad.Arrivals(1_000, _ -> PER_SECOND, Duration.ofSeconds(10), TIMEOUT, SEED));
    FleetStory story = new FleetStory(load, course, System.out);

    assertThat(load.await(without)).isTrue();
    try (ReleaseProbe probe = new ReleaseProbe(replicas.getFirst(), replicas.getLast(), time)) {
      long[] delays = probe.delays(PROBES_PER_SECOND * Math.min(without, 30));
      System.out.printf(
          "releases at another replica took effect within %d ms (median), %d ms (99 %%)%n",
          quantile(delays, .5), quantile(delays, .99));
    }
    await().until(() -> load.inFlight().max() >= LIMIT - 1);
    story.stage("undisturbed", 1);
    double expired = 0;
    for (Replica replica : replicas) {
      expired += replica.metric("throttlekit_concurrency_released_total{by=\"expired\"}");
      assertThat(replica.metric("throttlekit_concurrency_received_releases_total")).isPositive();
    }
    System.out.printf("%.0f permits ended by their TTL%n", expired);
    assertThat(expired)
        .as("permits that ended by their TTL, but for calls that Envoy gave up: %s", story)
        .isLessThanOrEqualTo((double) story.last().figures().failed());

    Replica steering = await().until(fleet::steering, Optional::isPresent).orElseThrow();
    List<Replica> others = replicas.stream().filter(replica -> replica != steering).toList();
    story.through(Fault.KILL, steering, killed);
    story.through(Fault.SUSPEND, others.getFirst(), suspended);
    story.through(Fault.CUT, others.getLast(), cut);
    story.stage("after all", 3);
    assertThat(story.stages())
        .as("%s", story)
        .allSatisfy(stage -> assertThat(stage.max()).isLessThanOrEqualTo(LIMIT));
  }

  private static long quantile(long[] nanos, double quantile) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(quantile * sorted.length) - 1] / 1_000_000;
  }
}
