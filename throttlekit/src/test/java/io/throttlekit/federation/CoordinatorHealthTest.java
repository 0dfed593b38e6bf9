package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CoordinatorHealthTest {
  private final ManualTime time = new ManualTime(0);
  private final List<Boolean> notified = new ArrayList<>();
  private final CoordinatorHealth health =
      new CoordinatorHealth(
          time,
          1_000,
          new FederationListener() {
            @Override
            public void coordinatorAnswers(boolean answers) {
              notified.add(answers);
            }
          });

  @Test
  void isHealthyUntilTheFirstFailure() {
    assertThat(health.answers()).isTrue();
    health.failed(time.monotonicNanos());
    assertThat(health.answers()).isFalse();
    health.succeeded();
    assertThat(health.answers()).isTrue();
  }

  @Test
  void aFailureOlderThanAnAnswerIsIgnored() {
    long asked = time.monotonicNanos();
    time.advance(1);
    health.succeeded();
    time.advance(2_000);
    health.failed(asked);
    assertThat(health.answers()).isTrue();
    health.failed(asked + 1_000_000);
    assertThat(health.answers()).isFalse();
  }

  @Test
  void onlyChangesAreReported() {
    health.succeeded();
    health.failed(time.monotonicNanos());
    health.failed(time.monotonicNanos());
    health.succeeded();
    health.succeeded();
    assertThat(notified).containsExactly(false, true);
  }

  @Test
  void aProbeIsDueOnceInEachIntervalAfterAFailure() {
    assertThat(health.isProbeDue()).as("it answers").isFalse();
    health.failed(time.monotonicNanos());
    time.advance(999);
    assertThat(health.isProbeDue()).isFalse();
    time.advance(1);
    assertThat(health.isProbeDue()).isTrue();
    assertThat(health.isProbeDue()).isFalse();
    time.advance(5_500);
    assertThat(health.isProbeDue()).isTrue();
    time.advance(999);
    assertThat(health.isProbeDue()).as("counted from the last").isFalse();
    time.advance(1);
    assertThat(health.isProbeDue()).isTrue();
  }

  @Test
  void furtherFailuresDoNotPostponeTheProbe() {
    health.failed(time.monotonicNanos());
    time.advance(999);
    health.failed(time.monotonicNanos());
    time.advance(1);
    assertThat(health.isProbeDue()).isTrue();
  }

  @Test
  void aHealthyCoordinatorIsNotProbed() {
    health.failed(time.monotonicNanos());
    time.advance(1_000);
    health.succeeded();
    assertThat(health.isProbeDue()).isFalse();
  }
}
