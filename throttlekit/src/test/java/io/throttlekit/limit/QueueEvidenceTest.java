package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With 100 requests in service, whose number varies by 10. */
class QueueEvidenceTest {
  private final QueueEvidence evidence = new QueueEvidence();

  @Test
  void thereIsNoneBeforeTheFirstWindow() {
    assertThat(evidence.value()).isZero();
    assertThat(evidence.isQueued()).isFalse();
  }

  /** A queue of 30 is 3 deviations, of which 2 are certain. */
  @ParameterizedTest
  @CsvSource({"50, 0.225", "150, 0.3375", "1, 0.00882352941", "1000000000, 0.45"})
  void aWindowOfFiftyRequestsHasHalfOfTheWeight(int requests, double value) {
    evidence.add(130, 100, 1, requests);
    assertThat(evidence.value()).isCloseTo(value, within(1e-6));
  }

  @ParameterizedTest
  @CsvSource({"105, 0.25", "110, 0.5", "120, 1", "900, 1", "100, 0", "20, 0"})
  void theMeanOfManyWindowsIsTheQueueAsAShareOfTwoDeviations(double others, double value) {
    windows(200, others, 1);
    assertThat(evidence.value()).isCloseTo(value, within(1e-9)).isBetween(0.0, 1.0);
  }

  @Test
  void countsAsFarAsItIsTrusted() {
    windows(200, 120, 0.25);
    assertThat(evidence.value()).isCloseTo(0.25, within(1e-9));
    windows(200, 120, 0);
    assertThat(evidence.value()).isCloseTo(0, within(1e-9));
  }

  @Test
  void anOverloadIsCertainAndFadesAsWindowsFollow() {
    evidence.overloaded();
    assertThat(evidence.value()).isEqualTo(1);
    evidence.add(100, 100, 1, 50);
    assertThat(evidence.value()).isCloseTo(0.85, within(1e-9));
  }

  @Test
  void anOverloadIsNoLessThanTheEvidenceBefore() {
    windows(200, 140, 1);
    evidence.overloaded();
    evidence.add(100, 100, 1, 50); // 0.85 · 4 deviations
    assertThat(evidence.value()).isEqualTo(1);
  }

  @Test
  void theLastWindowAloneSaysWhetherRequestsAreQueued() {
    evidence.add(109.9, 100, 1, 50);
    assertThat(evidence.isQueued()).isFalse();
    evidence.add(110, 100, 0, 1); // whatever its weight
    assertThat(evidence.isQueued()).isTrue();
    evidence.overloaded();
    evidence.add(90, 100, 1, 50);
    assertThat(evidence.isQueued()).isFalse();
  }

  private void windows(int count, double others, double trust) {
    for (int i = 0; i < count; i++) {
      evidence.add(others, 100, trust, 50);
    }
  }
}
