package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArrivalDispersionTest {
  private static final long SEED = 11;
  private static final long SPAN = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long HOUR = 3_600_000_000_000L;

  private final ArrivalDispersion dispersion = new ArrivalDispersion();
  private final SplittableRandom random = new SplittableRandom(SEED);

  /** The formula, without a clock. */
  private static final class Formula {
    private double kept = 0.998;
    private double weight = 1;
    private double requests = 100;
    private double squares = 100;

    Formula refusing() {
      kept = 0.9998;
      weight = 0.1;
      return this;
    }

    Formula add(int... counts) {
      for (int i = 1; i < counts.length; i++) {
        requests = kept * requests + weight * counts[i];
        squares = kept * squares + weight * Math.pow(counts[i] - counts[i - 1], 2) / 2;
      }
      return this;
    }

    double value() {
      return Math.max(1, squares / requests);
    }
  }

  @Test
  void isThatOfRandomArrivalsBeforeTheFirstRequest() {
    assertThat(dispersion.value()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        0,
        -5_000_000_003L,
        -HOUR,
        Long.MIN_VALUE + 20_000_000,
        Long.MAX_VALUE - 1_000_000_000,
        Long.MAX_VALUE
      })
  void isHalfOfTheSquareOfDifferencesByTheMean(long origin) {
    int[] counts = bursts(400);
    long begin = Math.floorDiv(origin, SPAN) * SPAN; // may overflow, as times do
    arrive(begin, counts);
    finish(begin);
    assertThat(dispersion.value())
        .as("seed %s", SEED)
        .isCloseTo(new Formula().add(counts).value(), within(1e-9))
        .isGreaterThan(5);
  }

  @Test
  void aSpanIsFinalTwoSecondsAndEightSpansLater() {
    arrive(0, 1, 40);
    dispersion.began(209 * SPAN); // the first span is final
    assertThat(dispersion.value()).isEqualTo(1);
    dispersion.began(210 * SPAN - 1);
    assertThat(dispersion.value()).isEqualTo(1);
    dispersion.began(210 * SPAN);
    assertThat(dispersion.value()).isEqualTo(new Formula().add(1, 40).value()).isGreaterThan(6);
  }

  @Test
  void randomArrivalsAreOne() {
    double nanos = 0;
    for (int i = 0; i < 200_000; i++) {
      nanos -= Math.log(1 - random.nextDouble()) * SPAN / 20;
      dispersion.began((long) nanos);
    }
    assertThat(dispersion.value()).as("seed %s", SEED).isBetween(1.0, 1.2);
  }

  @Test
  void regularArrivalsAreOneAtLeast() {
    for (int i = 0; i < 20_000; i++) {
      dispersion.began(i * SPAN / 4);
    }
    assertThat(dispersion.value()).isEqualTo(1);
  }

  @Test
  void aSlowChangeOfTheLoadDoesNotCount() {
    int[] counts = new int[2_000];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = 10 + i / 20;
    }
    arrive(0, counts);
    finish(0);
    assertThat(dispersion.value()).isEqualTo(1);
  }

  /** A request arrives here when it ends, up to 2 s after it began. */
  @Test
  void theOrderDoesNotMatterWithinTwoSeconds() {
    int[] counts = bursts(1_000);
    record Ended(long began, long arrived) {}
    List<Ended> requests = new ArrayList<>();
    for (int i = 0; i < counts.length; i++) {
      for (int j = 0; j < counts[i]; j++) {
        long began = i * SPAN + j;
        requests.add(new Ended(began, began + random.nextLong(200 * SPAN)));
      }
    }
    requests.sort(Comparator.comparingLong(Ended::arrived));
    requests.forEach(request -> dispersion.began(request.began()));
    finish(0);
    assertThat(dispersion.value())
        .as("seed %s", SEED)
        .isCloseTo(new Formula().add(counts).value(), within(1e-9));
  }

  @Test
  void theFirstToEndNeedNotBeTheFirstToBegin() {
    dispersion.began(208 * SPAN);
    dispersion.began(0);
    dispersion.began(-1); // too late
    int[] counts = new int[209];
    counts[0] = 1;
    counts[208] = 1;
    finish(0);
    assertThat(dispersion.value()).isEqualTo(1);
    arrive(HOUR, 60);
    finish(HOUR);
    Formula formula = new Formula().add(counts);
    assertThat(formula.requests).isLessThan(70); // the spans in between are empty
    dispersion.add(1_000, 500); // shows the sums
    double share = 500 / 5_500.0;
    double requests = formula.requests + share * (500 - formula.requests);
    double squares = formula.squares + share * (500_000 - formula.squares);
    assertThat(dispersion.value()).isCloseTo(squares / requests, within(1e-9));
  }

  @Test
  void aRequestThatBeganTooLongAgoDoesNotCount() {
    int[] counts = bursts(600);
    arrive(0, counts);
    for (int i = 0; i < 1_000; i++) {
      dispersion.began(i % 300 * SPAN);
      dispersion.began(-HOUR);
    }
    finish(0);
    assertThat(dispersion.value()).isCloseTo(new Formula().add(counts).value(), within(1e-9));
  }

  @Test
  void aShortPauseIsOfEmptySpans() {
    int[] counts = new int[200];
    for (int i = 0; i < 40; i++) {
      counts[i] = (i + 1) % 2 * 30;
      counts[160 + i] = i % 2 * 30;
    }
    arrive(0, counts);
    finish(0);
    assertThat(dispersion.value()).isCloseTo(new Formula().add(counts).value(), within(1e-9));
  }

  /** Nor does it take long: the spans of two centuries are not counted one by one. */
  @ParameterizedTest
  @ValueSource(longs = {257 * 10_000_000L, HOUR, 12 * HOUR, 200L * 365 * 24 * HOUR})
  void aTimeInWhichNothingBeganDoesNotCount(long idle) {
    int[] before = bursts(300);
    int[] after = bursts(300);
    after[0] = 1;
    arrive(0, before);
    long begin = (299 + idle / SPAN) * SPAN;
    arrive(begin, after);
    finish(begin);
    assertThat(dispersion.value())
        .as("seed %s", SEED)
        .isCloseTo(new Formula().add(before).add(after).value(), within(1e-9));
  }

  @Test
  void theFirstToEndAfterAnIdleTimeNeedNotBeTheFirstToBegin() {
    int[] before = bursts(300);
    arrive(0, before);
    dispersion.began(HOUR + 208 * SPAN);
    dispersion.began(HOUR);
    dispersion.began(HOUR - 1); // too late
    int[] after = new int[209];
    after[0] = 1;
    after[208] = 1;
    finish(HOUR);
    assertThat(dispersion.value())
        .as("seed %s", SEED)
        .isCloseTo(new Formula().add(before).add(after).value(), within(1e-9));
  }

  @Test
  void requestsThatAreFarApartKeepIt() {
    arrive(0, bursts(300));
    finish(0);
    double before = dispersion.value();
    for (int i = 0; i < 100_000; i++) {
      dispersion.began((2 + i) * HOUR);
    }
    assertThat(dispersion.value()).isEqualTo(before);
  }

  @Test
  void whileALimitRefusesRequestsATenthOfTheWeightIsLearned() {
    int[] counts = bursts(400);
    dispersion.next((double) SPAN, true);
    arrive(0, counts);
    finish(0);
    assertThat(dispersion.value())
        .isCloseTo(new Formula().refusing().add(counts).value(), within(1e-9));
    dispersion.next((double) SPAN, false);
    ArrivalDispersion other = new ArrivalDispersion();
    other.next((double) SPAN, true);
    other.next((double) SPAN, false);
    for (int i = 0; i < 400; i++) {
      for (int j = 0; j < counts[i]; j++) {
        other.began(i * SPAN);
      }
    }
    other.began(HOUR);
    assertThat(other.value()).isCloseTo(new Formula().add(counts).value(), within(1e-9));
  }

  @Test
  void spansAreAsLongAsTheLatency() {
    int[] alternate = new int[4_000];
    for (int i = 0; i < alternate.length; i += 2) {
      alternate[i] = 20;
    }
    dispersion.next(2.0 * SPAN, false);
    arrive(0, alternate);
    finish(0);
    assertThat(dispersion.value()).as("20 ms").isEqualTo(1);
    dispersion.next(1, false);
    arrive(10 * HOUR, alternate);
    finish(10 * HOUR);
    assertThat(dispersion.value()).as("10 ms at least").isBetween(18.0, 20.0);
  }

  /** Spans of 100 ms are final after 2.8 s. */
  @Test
  void longSpansAreFinalAfterEightMore() {
    dispersion.next(10.0 * SPAN, false);
    dispersion.began(0);
    for (int i = 0; i < 40; i++) {
      dispersion.began(10 * SPAN);
    }
    dispersion.began(299 * SPAN);
    assertThat(dispersion.value()).isEqualTo(1);
    dispersion.began(300 * SPAN);
    assertThat(dispersion.value()).isEqualTo(new Formula().add(1, 40).value());
  }

  @ParameterizedTest
  @CsvSource({"1.25, true", "1.26, false", "0.1, true"})
  void spansAreKeptWhileLatencyIsSimilar(double spans, boolean kept) {
    int[] counts = bursts(100);
    arrive(0, counts);
    dispersion.next(spans * SPAN, false);
    assertThat(dispersion.value()).as("nothing is final").isEqualTo(1);
    finish(0);
    Formula formula = kept ? new Formula().add(counts) : new Formula();
    assertThat(dispersion.value()).isCloseTo(formula.value(), within(1e-9));
  }

  @Test
  void anotherLengthOfTheSpansKeepsWhatIsFinal() {
    arrive(0, bursts(300));
    finish(0);
    double before = dispersion.value();
    dispersion.next(1e9, false);
    assertThat(dispersion.value()).isEqualTo(before);
    dispersion.began(2 * HOUR);
    dispersion.began(-HOUR); // before the first one
    assertThat(dispersion.value()).isEqualTo(before);
  }

  @Test
  void anotherLengthOfTheSpansForgetsWhatIsNotFinal() {
    arrive(0, bursts(200));
    dispersion.next(10.0 * SPAN, false);
    for (int i = 0; i < 400; i++) {
      dispersion.began(HOUR + 10L * i * SPAN);
    }
    arrive(2 * HOUR, 30, 1, 30);
    assertThat(dispersion.value()).isEqualTo(1);
  }

  @Test
  void aLatencyThatIsNoNumberIsTheShortest() {
    dispersion.next(Double.NaN, false);
    dispersion.next(Double.POSITIVE_INFINITY, false);
    dispersion.began(Long.MIN_VALUE);
    dispersion.began(Long.MAX_VALUE);
    assertThat(dispersion.value()).isEqualTo(1);
  }

  @Test
  void fiveThousandRequestsElsewhereHaveHalfOfTheWeight() {
    dispersion.add(4, 5_000);
    double requests = (100 + 5_000) / 2.0;
    assertThat(dispersion.value()).isCloseTo((100 + 4 * 5_000) / 2.0 / requests, within(1e-9));
    for (int i = 0; i < 100; i++) {
      dispersion.add(4, 5_000);
    }
    assertThat(dispersion.value()).isCloseTo(4, within(1e-9));
    dispersion.add(9, 0);
    assertThat(dispersion.value()).isCloseTo(4, within(1e-9));
    dispersion.add(2, Long.MAX_VALUE);
    assertThat(dispersion.value()).as("of 100,000 at most").isCloseTo(2, within(0.01));
    for (int i = 0; i < 10; i++) {
      dispersion.add(4, 5_000);
    }
    assertThat(dispersion.value()).as("they do not weigh for good").isBetween(3.9, 4.0);
  }

  /** A start after the end is wrong: the request began a latency before its end, or earlier. */
  @Test
  void aStartThatIsReportedTooLateDoesNotCount() {
    int[] counts = bursts(400);
    for (int i = 0; i < counts.length; i++) {
      for (int j = 0; j < counts[i]; j++) {
        long began = i * SPAN + j;
        long reported = j % 2 == 0 ? began : began + HOUR;
        dispersion.began(new Sample(reported, SPAN, began + SPAN, 1, false, false));
      }
    }
    finish(0);
    assertThat(dispersion.value())
        .as("seed %s", SEED)
        .isCloseTo(new Formula().add(counts).value(), within(1e-9));
  }

  private int[] bursts(int spans) {
    int[] counts = new int[spans];
    for (int i = 0; i < spans; i++) {
      counts[i] = random.nextInt(4) == 0 ? random.nextInt(60) : 1;
    }
    counts[0] = 1;
    counts[spans - 1] = 1;
    return counts;
  }

  private void arrive(long begin, int... counts) {
    for (int i = 0; i < counts.length; i++) {
      for (int j = 0; j < counts[i]; j++) {
        dispersion.began(begin + i * SPAN + j);
      }
    }
  }

  /** Begins a request so much later that all spans are final. */
  private void finish(long begin) {
    dispersion.began(begin + HOUR);
  }
}
