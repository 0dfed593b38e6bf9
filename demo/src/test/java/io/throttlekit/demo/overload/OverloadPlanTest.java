package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.demo.load.Capacity;
import io.throttlekit.simulator.concurrency.Lengths;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OverloadPlanTest {

  @Test
  void allPhasesFitInTwelveMinutes() {
    OverloadPlan plan = OverloadPlan.of(null, null, null, 1);
    assertThat(plan.schedule().seconds()).isEqualTo(720);
    assertThat(plan.schedule().counted()).isEqualTo(60);
    assertThat(plan.schedule().countedFrom(7)).isEqualTo(660);
    assertThat(plan.arms()).containsExactly(Limiter.NONE, Limiter.ENVOY, Limiter.OURS);
    assertThat(plan.schedule().phases()).isEqualTo(Phase.ALL);
  }

  @Test
  void phasesAreChosenByNameOrNumberAndKeepTheirOrder() {
    OverloadPlan plan = OverloadPlan.of("restored, 2.0,halved", "ours,none", "60", 1);
    assertThat(plan.schedule().phases())
        .extracting(Phase::name)
        .containsExactly("2", "halved", "restored");
    assertThat(plan.arms()).containsExactly(Limiter.NONE, Limiter.OURS);
    assertThat(plan.schedule().length()).isEqualTo(20);
    assertThat(plan.schedule().counted()).isEqualTo(13);
    assertThat(plan.schedule().at(39).name()).isEqualTo("halved");
    assertThat(plan.schedule().at(40).name()).isEqualTo("restored");
  }

  @Test
  void unknownPhasesAndArmsAreRejectedWithAMessage() {
    assertWrong(
        "3", null, null, "there is no phase '3', but 0.8, 1, 1.05, 1.2, 2, 5, halved, restored");
    assertWrong("2,", null, null, "there is no phase ''");
    assertWrong(null, "gateway", null, "there is no arm 'gateway', but none, envoy, ours");
    assertWrong("2,5", null, "19", "from 20 to 3600 for 2 phases, not '19'");
    assertWrong("2", null, "3601", "from 10 to 3600 for one phase, not '3601'");
    assertWrong("2", null, "-30", "not '-30'");
  }

  @Test
  void capacityIsBoundedByASmallMachine() {
    assertThat(Capacity.USUAL.perSecond()).isEqualTo(125);
    assertThat(Capacity.USUAL.deadline()).isEqualTo(Duration.ofMillis(400));
    assertThatThrownBy(() -> new Capacity(13, Duration.ofMillis(40), Lengths.FIXED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("300 requests a second");
    assertThatThrownBy(() -> new Capacity(0, Duration.ofMillis(40), Lengths.FIXED))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static void assertWrong(
      @Nullable String phases, @Nullable String arms, @Nullable String seconds, String words) {
    assertThatThrownBy(() -> OverloadPlan.of(phases, arms, seconds, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(words);
  }
}
