package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The targets of our default algorithm, for any seed. */
@Tag("slow")
class TargetsTest {
  private static final int SEEDS = 5;

  static Stream<Scenario> scenarios() {
    return Scenarios.all().stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void probedVegasReachesEveryTargetOnEverySeed(Scenario scenario) {
    ContenderResult result = ContenderResult.of(scenario, Contenders.probedVegas(), SEEDS);
    List<Target> targets = scenario.targets();
    assertThat(targets).isNotEmpty();
    for (int i = 0; i < targets.size(); i++) {
      Target target = targets.get(i);
      double found = result.figures().get(i);
      assertThat(target.reachedBy(found))
          .as("%s %s %s, found %s", target.id(), target.what(), target.wanted(), found)
          .isTrue();
    }
  }
}
