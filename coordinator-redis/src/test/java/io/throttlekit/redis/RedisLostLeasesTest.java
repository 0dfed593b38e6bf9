package io.throttlekit.redis;

import static io.throttlekit.redis.LeasingProcess.LEASE;
import static io.throttlekit.redis.LeasingProcess.REGIONAL_LEASES;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Two processes of a region spend a budget. Only units of a process or a Redis that ends are lost.
 */
@RealRedis
class RedisLostLeasesTest {
  private static final long LIMIT = 1_000;
  private static final int ROUNDS = 6;

  private final RedisProcess global = RedisProcess.start();
  private final RedisProcess region = RedisProcess.start();
  private final AtomicBoolean killBeforeRefill = new AtomicBoolean();
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(global, region));
  private long admitted;
  private final LeasingProcess one = process("one");
  private final LeasingProcess other = process("other");

  private LeasingProcess process(String name) {
    LeasingProcess process =
        new LeasingProcess(
            name,
            LIMIT,
            region,
            global,
            () -> {
              if (killBeforeRefill.compareAndSet(true, false)) {
                region.kill();
              }
            });
    opened.add(process);
    return process;
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void lostAnswersLoseNoUnits() {
    spendWhileAnswersAreLost();
    spendTheRest(LIMIT, one, other);
  }

  @Test
  void onlyUnitsHeldByAKilledProcessAreLost() {
    spendWhileAnswersAreLost();
    admitted += one.admittedOf(1);
    one.awaitAnswers(); // also of the lease that follows the last unit
    one.cutOff();
    long held = one.admittedUntilRefused(); // counted nowhere: the process is killed
    one.close();
    assertThat(held).as("units of the killed process").isPositive();
    spendTheRest(LIMIT - held, other);
  }

  @Test
  void onlyUnitsHeldByAKilledRedisAreLost() {
    admitted += one.admittedOf(1);
    one.awaitAnswers();
    region.kill();
    region.restart();
    spendTheRest(LIMIT - (REGIONAL_LEASES - 1) * LEASE, other, one);
  }

  @Test
  void unitsInFlightToAKilledRedisAreNotLost() {
    killBeforeRefill.set(true);
    admitted += one.admittedOf(1);
    StoreCalls.await("the kill of a Redis", () -> !killBeforeRefill.get());
    region.restart();
    one.awaitAnswers();
    spendTheRest(LIMIT, one, other);
  }

  private void spendWhileAnswersAreLost() {
    for (int round = 0; round < ROUNDS; round++) {
      for (LeasingProcess each : List.of(one, other)) {
        admitted += each.admittedThoughAnswersAreLost(Math.toIntExact(2 * LEASE));
        admitted += each.admittedOf(3);
      }
    }
    assertThat(admitted).as("of the limit, so far").isLessThan(LIMIT - 4 * LEASE);
  }

  /** A request that waits too long is refused, too, so only the sum shows that all is spent. */
  private void spendTheRest(long expected, LeasingProcess... processes) {
    StoreCalls.await(
        "spent: " + expected,
        () -> {
          for (LeasingProcess each : processes) {
            admitted += each.admittedUntilRefused();
          }
          return admitted >= expected;
        });
    assertThat(admitted).isEqualTo(expected);
    for (LeasingProcess each : processes) {
      each.awaitAnswers();
      assertThat(each.admittedOf(1)).isZero();
      assertThat(each.lost).hasValue(0);
    }
  }
}
