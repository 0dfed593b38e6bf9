package io.throttlekit.bench.busy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Its subject is time: a run in which the generator itself lagged says nothing, and is repeated.
 */
@Timeout(60)
class ServiceOverloadTest {
  private static final int RUNS = 2;

  @Test
  void answersAsManyInTimeAtTenTimesItsCapacityAsAtAnyLoadAndStaysHealthy() throws Exception {
    List<Offered> all = List.of();
    for (int run = 0; run < RUNS && !isPunctual(all); run++) {
      all =
          ServiceOverload.measure(
              List.of(1, 3, 10), Duration.ofSeconds(4), Duration.ofSeconds(1), _ -> {});
      ServiceOverload.print(all, System.out);
    }
    assumeTrue(isPunctual(all), "the generator had no processor of its own");
    assertThat(ServiceOverload.kept(all)).isGreaterThanOrEqualTo(.9);
    assertThat(all).allSatisfy(each -> assertThat(each.badProbes()).isZero());
    assertThat(all.getLast().refused()).as("refused in time").isPositive();
  }

  private static boolean isPunctual(List<Offered> all) {
    return !all.isEmpty() && all.stream().allMatch(Offered::isPunctual);
  }
}
