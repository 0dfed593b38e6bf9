package io.throttlekit.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.chaos.Schedule.Planned;
import io.throttlekit.bench.chaos.fault.CoordinatorFailedOver;
import io.throttlekit.bench.chaos.fault.KeyFlood;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
  /** Every kind of fault. */
  static final Set<String> KINDS =
      Set.of(
          "process killed",
          "process paused",
          "store killed",
          "store paused",
          "coordinator killed",
          "coordinator paused",
          "store delayed",
          "coordinator delayed",
          "store cut off",
          "coordinator cut off",
          "store restored from a snapshot",
          "store failed over",
          "process clock stepped",
          "coordinator clock stepped",
          "coordinator failed over",
          "slow readers",
          "hostile streams",
          "long keys",
          "key flood",
          "10 × load");

  @ParameterizedTest(name = "{0} s")
  @ValueSource(ints = {36, 60, 300, 1_800})
  void everySeedHasEveryKindAndIsReproducible(int seconds) {
    for (long seed = 1; seed <= 50; seed++) {
      List<Schedule> rounds = rounds(seed, seconds);
      Set<String> kinds = new TreeSet<>();
      for (Schedule round : rounds) {
        all(round).forEach(each -> kinds.add(each.fault().kind()));
      }
      assertThat(kinds).as("seed %d", seed).isEqualTo(new TreeSet<>(KINDS));
      assertThat(rounds(seed, seconds)).as("seed %d", seed).isEqualTo(rounds);
    }
    assertThat(rounds(1, seconds)).isNotEqualTo(rounds(2, seconds));
  }

  @Test
  void aFleetHasOneStandbyToFailOverTo() {
    for (long seed = 1; seed <= 50; seed++) {
      for (Schedule round : rounds(seed, 600)) {
        assertThat(round.machines())
            .filteredOn(each -> each.fault() instanceof CoordinatorFailedOver)
            .as("seed %d", seed)
            .hasSizeLessThanOrEqualTo(1);
      }
    }
  }

  @Test
  void faultsOfALaneDoNotOverlapAndFloodsUseDistinctKeys() {
    for (long seed = 1; seed <= 50; seed++) {
      Set<Long> firstKeys = new TreeSet<>();
      int floods = 0;
      for (Schedule round : rounds(seed, 600)) {
        for (List<Planned> lane : List.of(round.machines(), round.clients())) {
          long free = 0;
          for (Planned each : lane) {
            assertThat(each.atMillis()).as("seed %d: %s", seed, each).isGreaterThanOrEqualTo(free);
            free = each.atMillis() + each.lastsMillis();
          }
        }
        for (Planned each : round.clients()) {
          if (each.fault() instanceof KeyFlood flood) {
            floods++;
            firstKeys.add(flood.first());
          }
        }
      }
      assertThat(firstKeys).as("seed %d", seed).hasSize(floods);
    }
  }

  @Test
  void halfAnHourFloodsTenMillionKeysAndAMinuteAHundredThousand() {
    assertThat(flooded(1_800)).isGreaterThanOrEqualTo(10_000_000);
    assertThat(flooded(60)).isBetween(100_000L, 350_000L);
  }

  private static long flooded(int seconds) {
    return rounds(7, seconds).stream()
        .flatMap(round -> round.clients().stream())
        .mapToLong(each -> each.fault() instanceof KeyFlood flood ? flood.keys() : 0)
        .sum();
  }

  private static List<Schedule> rounds(long seed, int seconds) {
    Campaign campaign = new Campaign(seed, Duration.ofSeconds(seconds), Path.of("unused"));
    List<Schedule> rounds = new ArrayList<>();
    for (int round = 0; round < campaign.rounds(); round++) {
      rounds.add(campaign.schedule(round));
    }
    return rounds;
  }

  private static List<Planned> all(Schedule round) {
    List<Planned> all = new ArrayList<>(round.machines());
    all.addAll(round.clients());
    return all;
  }
}
