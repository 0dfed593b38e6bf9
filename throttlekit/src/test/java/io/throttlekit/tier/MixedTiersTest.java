package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.tier.CountingStore.Slot;
import io.throttlekit.tier.MixedFleet.Reached;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests requests with several descriptors, each with its own tier, on a slow store. */
@Tag("exploration")
class MixedTiersTest {
  private static final int SEEDS = Boolean.getBoolean("throttlekit.thorough") ? 60 : 20;
  private static final int EVENTS = 3_000;

  @ParameterizedTest(name = "coupled {0}, with losses {1}")
  @CsvSource({"true, false", "true, true", "false, false", "false, true"})
  void noWindowOfACounterAdmitsMoreThanPromised(boolean coupled, boolean losses) {
    long carried = coupled ? 0 : MixedFleet.NODES * (MixedRequests.MAX_BATCH - 1);
    for (long seed = 1; seed <= SEEDS; seed++) {
      MixedFleet fleet = run(seed, coupled, losses);
      for (Map.Entry<Slot, Long> spent : fleet.spent().entrySet()) {
        long refunded = fleet.store().refunded().getOrDefault(spent.getKey(), 0L);
        assertThat(spent.getValue() - refunded)
            .as("seed %d: admitted in %s", seed, spent.getKey())
            .isLessThanOrEqualTo(MixedRequests.limit(spent.getKey().key()) + carried);
      }
    }
  }

  @ParameterizedTest(name = "coupled {0}")
  @CsvSource({"true", "false"})
  void theStoreCountsSpentAndForfeitedUnits(boolean coupled) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      MixedFleet fleet = run(seed, coupled, false);
      long spent = fleet.spent().values().stream().mapToLong(units -> units).sum();
      long refunded = fleet.store().refunded().values().stream().mapToLong(units -> units).sum();
      assertThat(fleet.store().counted())
          .as("seed %d", seed)
          .isEqualTo(spent - refunded + fleet.forfeited() + fleet.store().ineffectiveReturns());
    }
  }

  @ParameterizedTest(name = "with losses {0}")
  @CsvSource({"true", "false"})
  void everyRequestIsAnsweredOnce(boolean losses) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(run(seed, true, losses).notAnsweredOnce()).as("seed %d", seed).isZero();
    }
  }

  @Test
  void runsReachEveryCase() {
    Map<Reached, Integer> reached = new EnumMap<>(Reached.class);
    long late = 0;
    long worthless = 0;
    long forfeited = 0;
    long refunded = 0;
    long wholeLimits = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      MixedFleet fleet = run(seed, true, false);
      wholeLimits +=
          fleet.spent().entrySet().stream()
              .filter(spent -> spent.getValue() == MixedRequests.limit(spent.getKey().key()))
              .count();
      fleet.reached().forEach((what, times) -> reached.merge(what, times, Integer::sum));
      late += fleet.late();
      worthless += fleet.store().ineffectiveReturns();
      forfeited += fleet.forfeited();
      refunded += fleet.store().refunded().size();
    }
    assertThat(reached).containsOnlyKeys(Reached.values());
    assertThat(reached.values()).as("%s", reached).allMatch(times -> times >= SEEDS);
    assertThat(wholeLimits).as("windows that admit their whole limit").isGreaterThan(SEEDS);
    assertThat(late).isPositive();
    assertThat(worthless).isPositive();
    assertThat(forfeited).isPositive();
    assertThat(refunded).isPositive();
  }

  private static MixedFleet run(long seed, boolean coupled, boolean losses) {
    MixedFleet fleet = new MixedFleet(seed, coupled, losses);
    fleet.run(EVENTS);
    return fleet;
  }
}
