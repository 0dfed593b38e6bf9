package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoggedRequestsTest {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Requests after which it is known how late entries come. */
  private static final int LEARNING = 1_000;

  private final LoggedRequests requests = new LoggedRequests();
  private final List<Sample> passed = new ArrayList<>();

  /** Four workers flush their logs in turn, each once a second. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, Long.MAX_VALUE})
  void countsTheRequestsInFlightWhenEachBegan(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long origin = seed == Long.MAX_VALUE ? Long.MAX_VALUE - 5 * SECOND : 0; // overflows
    List<Sample> all = new ArrayList<>();
    List<List<Sample>> workers = new ArrayList<>();
    for (int worker = 0; worker < 4; worker++) {
      workers.add(new ArrayList<>());
    }
    for (int i = 0; i < 5_000; i++) {
      long start = origin + 2 * MILLI * i + random.nextLong(MILLI);
      long latency = 5 * MILLI + random.nextLong(20 * MILLI);
      Sample request = new Sample(start, latency, start + latency, 1, false, false);
      all.add(request);
      workers.get(random.nextInt(4)).add(request);
    }
    for (int quarter = 1; quarter <= 60; quarter++) {
      long now = origin + quarter * SECOND / 4;
      List<Sample> log = workers.get(quarter % 4);
      log.stream()
          .filter(request -> end(request) - now <= 0)
          .forEach(request -> requests.add(request.arrivedAt(now)));
      log.removeIf(request -> end(request) - now <= 0);
      requests.pass(false, now, passed::add);
    }
    assertThat(passed).hasSameSizeAs(all);
    for (int i = LEARNING; i < passed.size(); i++) {
      Sample sample = passed.get(i);
      assertThat(sample.startNanos()).as("request %d", i).isEqualTo(all.get(i).startNanos());
      long inFlight =
          all.stream()
              .filter(other ->
                  other.startNanos() - sample.startNanos() <= 0
                      && end(other) - sample.startNanos() > 0)
              .count();
      assertThat((long) sample.inFlight()).as("request %d", i).isEqualTo(inFlight);
    }
  }

  @Test
  void waitsForRequestsThatAreLoggedLater() {
    logged(0, 10, 1_010); // entries come up to a second late
    requests.pass(false, 1_100 * MILLI, passed::add);
    passed.clear();
    logged(2_000, 10, 2_010);
    requests.pass(false, 2_500 * MILLI, passed::add);
    assertThat(passed).isEmpty();
    logged(1_990, 20, 2_600);
    requests.pass(false, 3_100 * MILLI, passed::add);
    assertThat(passed).extracting(Sample::inFlight).containsExactly(1, 2);
    assertThat(passed).extracting(Sample::arrivedNanos).containsOnly(3_100 * MILLI);
  }

  @Test
  void passesAllToAReaderThatNeedsThemSoon() {
    logged(0, 10, 1_010);
    logged(1_000, 10, 1_010);
    requests.pass(true, 1_010 * MILLI, passed::add);
    assertThat(passed).hasSize(2);
  }

  @Test
  void addsTheRequestsThatAreNotInTheLog() {
    for (int second = 1; second <= 60; second++) {
      for (int i = 0; i < 100; i++) { // ten at a time
        logged(second * 1_000 + 10 * i, 100, second * 1_000 + 1_100);
      }
      requests.reported(40, second * SECOND);
      requests.pass(false, second * SECOND + 100 * MILLI, passed::add);
    }
    assertThat(passed.getLast().inFlight()).isBetween(39, 41);
  }

  @Test
  void countsRequestsThatAreNoSamples() {
    requests.count(new Sample(0, 100 * MILLI, 100 * MILLI, 1, false, false));
    logged(50, 10, 100);
    requests.pass(false, SECOND, passed::add);
    assertThat(passed).extracting(Sample::inFlight).containsExactly(2);
  }

  /** How long it was in flight is not known. */
  @Test
  void aDroppedRequestDelaysNoOther() {
    requests.add(new Sample(0, 0, 15 * SECOND, 1, false, true));
    logged(14_980, 10, 15_000);
    requests.pass(false, 15_040 * MILLI, passed::add);
    assertThat(passed).extracting(Sample::dropped).containsExactly(true, false);
  }

  @Test
  void noEntryDelaysOthersForLong() {
    requests.add(new Sample(0, Long.MAX_VALUE / 4, 100 * SECOND, 1, false, false));
    requests.add(new Sample(-1_000 * SECOND, 1, 100 * SECOND, 1, false, false));
    requests.add(new Sample(100 * SECOND, 1, 100 * SECOND, 1, false, false));
    requests.pass(false, 121 * SECOND, passed::add);
    assertThat(passed).hasSize(3);
  }

  /** Any client of the log may send such entries. */
  @Test
  void aRequestWhoseLatencyIsLongerThanItsTimeEndedAtItsArrival() {
    for (int i = 0; i < 200_000; i++) {
      requests.add(new Sample(0, 86_400 * SECOND, SECOND, 1, false, false));
    }
    requests.pass(false, 60 * SECOND, passed::add);
    logged(60_000, 10, 60_010);
    requests.pass(false, 120 * SECOND, passed::add);
    assertThat(passed.getLast().inFlight()).isOne();
  }

  @Test
  void keepsABoundedNumberOfRequestsAndReports() {
    for (int i = 0; i < 1_000_000; i++) {
      requests.add(new Sample(i, SECOND, i, 1, false, false));
      requests.reported(Integer.MAX_VALUE, i);
      requests.pass(false, i, passed::add);
    }
    assertThat(passed.size()).isGreaterThan(1_000_000 - 140_000);
    assertThat(passed).allMatch(sample -> sample.inFlight() >= 1);
  }

  private void logged(long startMillis, long millis, long arrivedMillis) {
    requests.add(
        new Sample(startMillis * MILLI, millis * MILLI, arrivedMillis * MILLI, 1, false, false));
  }

  private static long end(Sample request) {
    return request.startNanos() + request.rttNanos();
  }
}
