package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.testkit.WindowTally.Window;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three processes, one store, one limit that five tenants share; offered three times the limit, by
 * one tenant ten times as much as by each other one. One process is killed.
 */
@RealRedis
@RealPostgres
@Tag("alone")
class FairProcessesTest {
  private static final long LIMIT = 240;
  private static final long WINDOW_MILLIS = 2_000;
  private static final long QUANTUM = 4;
  private static final int PROCESSES = 3;
  private static final int KILLED = 1;

  /** Requests per second of each tenant to each process: 360, three times the limit. */
  private static final int[][] SKEWED = {
    {200, 30, 30}, {20, 3, 3}, {3, 20, 3}, {3, 3, 20}, {9, 9, 8},
  };

  private static final int TENANTS = SKEWED.length;
  private static final long GUARANTEE = LIMIT / TENANTS; // less than each requests in a window

  @TempDir private Path folder;

  @Test
  void eachTenantHasItsGuaranteeLessOneQuantumForEachProcess() throws Exception {
    check(LeaseStore.Kind.REDIS, 2);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("thorough")
  void eachTenantHasItsGuaranteeInLongRuns(LeaseStore.Kind store) throws Exception {
    check(store, 8);
  }

  /**
   * Checks the windows, with a kill in the middle.
   *
   * @param windows whole ones before the kill, and after the window of the kill
   */
  private void check(LeaseStore.Kind kind, int windows) throws Exception {
    List<ServiceProcess> processes = new ArrayList<>();
    try (LeaseStore store = LeaseStore.durable(kind)) {
      processes.addAll(start(store));
      try (Offered offered =
          new Offered(lanes(processes), rates(SKEWED), WINDOW_MILLIS, requests())) {
        offered.await("windows of all", () -> judged(offered).size() >= windows);
        awaitMiddleOfWindow(offered);
        processes.get(KILLED).kill();
        offered.goOnWith(rates(withoutKilled()));
        long killedEnd = offered.currentWindowEndMillis();
        offered.await(
            "windows of the others",
            () ->
                judged(offered).stream().filter(w -> w.endMillis() > killedEnd).count() >= windows);
        offered.stop();
        judged(offered).forEach(window -> assertShares(offered, window, killedEnd));
        assertThat(offered.refused()).isGreaterThan(LIMIT);
        assertThat(offered.admitted().overshoot(LIMIT)).as("beyond the limit").isZero();
      }
    } finally {
      processes.forEach(ServiceProcess::close);
    }
  }

  private static void assertShares(Offered offered, Window admitted, long killedEnd) {
    // Requests to the killed process had no answer, so they may have been admitted.
    long unanswered = admitted.endMillis() == killedEnd ? failed(offered) : 0;
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      long guarantee = Math.min(decided(offered, admitted, tenant), GUARANTEE);
      assertThat(by(tenant, admitted) + admitted.straddling() + unanswered)
          .as("tenant %d of %s, killed before %d", tenant, admitted, killedEnd)
          .isGreaterThanOrEqualTo(guarantee - PROCESSES * QUANTUM);
    }
  }

  private static long failed(Offered offered) {
    return offered.failures().values().stream().mapToInt(Integer::intValue).sum();
  }

  /**
   * Returns the whole windows after one in which every tenant was active, as it was in them: units
   * of a tenant that a stalled machine makes absent are lent.
   */
  private static List<Window> judged(Offered offered) {
    List<Window> whole = offered.wholeWindows();
    return IntStream.range(1, whole.size())
        .filter(i -> isEachActive(offered, whole.get(i - 1)) && isEachActive(offered, whole.get(i)))
        .mapToObj(whole::get)
        .toList();
  }

  private static boolean isEachActive(Offered offered, Window window) {
    return IntStream.range(0, TENANTS)
        .allMatch(tenant -> decided(offered, window, tenant) >= GUARANTEE / 2);
  }

  /** Returns the requests of a tenant that were surely decided in a window, by all processes. */
  private static long decided(Offered offered, Window window, int tenant) {
    return IntStream.range(0, PROCESSES)
        .mapToLong(process -> offered.decided(window, tenant * PROCESSES + process))
        .sum();
  }

  private static void awaitMiddleOfWindow(Offered offered) {
    long next = offered.currentWindowEndMillis() + WINDOW_MILLIS / 2;
    offered.await("the middle of a window", () -> System.currentTimeMillis() >= next);
  }

  /** Returns the units of a tenant, over all processes. */
  private static long by(int tenant, Window window) {
    long units = 0;
    for (int process = 0; process < PROCESSES; process++) {
      units += window.by(tenant * PROCESSES + process);
    }
    return units;
  }

  /** Returns the ports of all processes for each tenant in turn. */
  private static List<Integer> lanes(List<ServiceProcess> processes) {
    List<Integer> ports = new ArrayList<>();
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      processes.forEach(process -> ports.add(process.port()));
    }
    return ports;
  }

  private static List<Integer> rates(int[][] ofTenants) {
    return Arrays.stream(ofTenants).flatMapToInt(Arrays::stream).boxed().toList();
  }

  /** Returns the rates with those of the killed process sent to the next one. */
  private static int[][] withoutKilled() {
    int[][] rates = Arrays.stream(SKEWED).map(int[]::clone).toArray(int[][]::new);
    for (int[] tenant : rates) {
      tenant[KILLED + 1] += tenant[KILLED];
      tenant[KILLED] = 0;
    }
    return rates;
  }

  private static List<List<RateLimitRequest>> requests() {
    List<List<RateLimitRequest>> requests = new ArrayList<>();
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      List<RateLimitRequest> one =
          List.of(Offered.request(1, "api", "orders", "org", "tenant-" + tenant));
      for (int process = 0; process < PROCESSES; process++) {
        requests.add(one);
      }
    }
    return requests;
  }

  private List<ServiceProcess> start(LeaseStore store) throws Exception {
    Path policies =
        Files.writeString(
            folder.resolve("fleet.yaml"),
            """
            domain: fleet
            descriptors:
              - key: api
                rate_limit:
                  requests_per_unit: %d
                  every: %dms
                  tier: leased
                  lease: {size: %d}
                  fair_share: {tenant: org}
            """
                .formatted(LIMIT, WINDOW_MILLIS, QUANTUM));
    Map<String, String> environment = Map.of("THROTTLEKIT_STORE_URI", store.uri(store.port()));
    List<Callable<ServiceProcess>> starts = new ArrayList<>();
    for (int n = 0; n < PROCESSES; n++) {
      Path log = folder.resolve("process" + n);
      starts.add(() -> ServiceProcess.start(policies, environment, 0, log));
    }
    return Concurrently.all(starts);
  }
}
