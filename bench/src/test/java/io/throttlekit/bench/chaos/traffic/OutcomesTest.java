package io.throttlekit.bench.chaos.traffic;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutcomesTest {
  private static final long SENT = SECONDS.toNanos(100);

  private final Outcomes outcomes = new Outcomes(ChaosFleet.PROCESSES);

  @Test
  void anAnswerAfterTheCallersTimeoutIsAFailure() {
    answer(MILLISECONDS.toNanos(1_000));
    assertThat(outcomes.figures().failed()).isZero();
    answer(MILLISECONDS.toNanos(1_001));
    assertThat(outcomes.figures().failed()).isOne();
    assertThat(outcomes.figures().reasons()).isEqualTo(Map.of("late", 1L));
    assertThat(outcomes.underWay()).isZero();
  }

  @Test
  void heldBackRequestsFailAndTheGeneratorsLagIsCountedApart() {
    answer(0);
    outcomes.heldBack(0, SENT);
    outcomes.behind(7);
    RequestFigures figures = outcomes.figures();
    assertThat(figures.requests()).isEqualTo(2);
    assertThat(figures.failed()).isOne();
    assertThat(figures.percentFailed()).isEqualTo(50);
    assertThat(figures.reasons()).isEqualTo(Map.of("held back", 1L));
    assertThat(figures.behind()).isEqualTo(7);
  }

  @Test
  void aFailureIsCountedNoLaterThanTheCallersTimeout() {
    fail(SECONDS.toNanos(5), 0, Status.DEADLINE_EXCEEDED);
    assertThat(outcomes.recoveryNanos(SENT)).isEqualTo(SECONDS.toNanos(1));
    fail(MILLISECONDS.toNanos(1_200), 0, Status.UNAVAILABLE);
    assertThat(outcomes.recoveryNanos(SENT)).isEqualTo(SECONDS.toNanos(1));
    outcomes.heldBack(0, SENT + SECONDS.toNanos(2));
    assertThat(outcomes.recoveryNanos(SENT)).isEqualTo(SECONDS.toNanos(2));
  }

  @Test
  void onlyFullTimeoutsOfARunningProcessAreUnanswered() {
    fail(SECONDS.toNanos(5), SECONDS.toNanos(1), Status.DEADLINE_EXCEEDED);
    fail(MILLISECONDS.toNanos(900), 0, Status.DEADLINE_EXCEEDED);
    // A status that the process sent.
    fail(MILLISECONDS.toNanos(4_999), 0, Status.DEADLINE_EXCEEDED);
    fail(SECONDS.toNanos(5), 0, Status.UNAVAILABLE);
    outcomes.running(0, SENT + 1);
    fail(SECONDS.toNanos(5), 0, Status.DEADLINE_EXCEEDED);
    assertThat(outcomes.figures().unanswered()).isZero();
    outcomes.running(0, SENT - 1);
    fail(SECONDS.toNanos(5), 0, Status.DEADLINE_EXCEEDED);
    assertThat(outcomes.figures().unanswered()).isOne();
    assertThat(outcomes.figures().failed()).isEqualTo(6);
  }

  private void answer(long afterNanos) {
    outcomes.sent(0);
    outcomes.answered(0, SENT, SENT + afterNanos, true);
    outcomes.completed(0);
  }

  private void fail(long afterNanos, long stalledNanos, Status status) {
    outcomes.sent(0);
    outcomes.failed(0, SENT, SENT + afterNanos, stalledNanos, status);
  }
}
