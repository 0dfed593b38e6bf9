package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.Cuts.Cut;
import org.junit.jupiter.api.Test;

class CutsTest {
  private static final long MS = 1_000_000;

  private final Cuts cuts = new Cuts(1);

  @Test
  void countsOnlyAnswersOfTheRegionDuringItsCut() {
    add(1, Answer.ALLOWED, 0, 1); // before
    cuts.begin(10 * MS);
    add(1, Answer.ALLOWED, 9, 11); // begun before
    add(1, Answer.ALLOWED, 10, 12);
    add(0, Answer.ALLOWED, 11, 13); // another region
    add(1, Answer.FAILED, 11, 13);
    assertThat(cuts.refuses()).isFalse();
    add(1, Answer.LIMITED, 12, 14);
    add(1, Answer.LIMITED, 13, 15);
    assertThat(cuts.refuses()).isTrue();
    cuts.end(20 * MS);
    assertThat(cuts.ended()).containsExactly(new Cut(1, 2, 4, -1));
  }

  @Test
  void aRegionHasRecoveredWhenARequestBegunAfterTheCutIsAdmitted() {
    cuts.begin(10 * MS);
    cuts.end(20 * MS);
    add(1, Answer.ALLOWED, 19, 21); // begun during the partition
    add(1, Answer.LIMITED, 21, 22);
    assertThat(cuts.ended()).containsExactly(new Cut(0, 0, -1, -1));
    add(1, Answer.ALLOWED, 25, 27);
    add(1, Answer.ALLOWED, 28, 29);
    assertThat(cuts.ended()).containsExactly(new Cut(0, 0, -1, 7));
  }

  private void add(int region, Answer answer, long sentMillis, long answeredMillis) {
    cuts.add(region, answer, sentMillis * MS, answeredMillis * MS);
  }
}
