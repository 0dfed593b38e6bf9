package io.throttlekit.rate;

import static io.throttlekit.Decision.admit;
import static io.throttlekit.Decision.refuse;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.junit.jupiter.api.Test;

/** Decisions computed by hand: limit, remaining, reset after, retry after. */
class GoldenRowsTest {

  @Test
  void gcraSpacesUnitsEvenlyAfterABurst() {
    var counter = new History<>(new Gcra(5, 1000));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(5, 4, 200));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(5, 3, 400));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(5, 2, 600));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(5, 1, 800));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(5, 0, 1000));
    assertThat(counter.charge(0, 1)).isEqualTo(refuse(5, 0, 1000, 200));
    assertThat(counter.charge(200, 1)).isEqualTo(admit(5, 0, 1000));
    assertThat(counter.charge(200, 1)).isEqualTo(refuse(5, 0, 1000, 200));
    assertThat(counter.charge(1000, 3)).isEqualTo(admit(5, 1, 800));
    assertThat(counter.charge(1000, 3)).isEqualTo(refuse(5, 1, 800, 400));
    assertThat(counter.charge(500, 1)).isEqualTo(refuse(5, 0, 1300, 500));
  }

  @Test
  void gcraRoundsThirdsOfASecondUp() {
    var counter = new History<>(new Gcra(3, 1000));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(3, 2, 334));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(3, 1, 667));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(3, 0, 1000));
    assertThat(counter.charge(0, 1)).isEqualTo(refuse(3, 0, 1000, 334));
    assertThat(counter.charge(333, 1)).isEqualTo(refuse(3, 0, 667, 1));
    assertThat(counter.charge(334, 1)).isEqualTo(admit(3, 0, 1000));
  }

  @Test
  void gcraAdmitsItsBurstAndMoreNeverFits() {
    var counter = new History<>(new Gcra(10, 1000, 2));
    assertThat(counter.charge(0, 3)).isEqualTo(refuse(2, 2, 0, Decision.NEVER));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(2, 1, 100));
    assertThat(counter.charge(0, 1)).isEqualTo(admit(2, 0, 200));
    assertThat(counter.charge(0, 1)).isEqualTo(refuse(2, 0, 200, 100));
    assertThat(counter.charge(99, 1)).isEqualTo(refuse(2, 0, 101, 1));
    assertThat(counter.charge(100, 1)).isEqualTo(admit(2, 0, 200));
  }

  @Test
  void tokenBucketRegainsTokensEvenly() {
    var counter = new History<>(new TokenBucket(5, 1000, 10));
    assertThat(counter.charge(0, 4)).isEqualTo(admit(10, 6, 800));
    assertThat(counter.charge(0, 7)).isEqualTo(refuse(10, 6, 800, 200));
    assertThat(counter.charge(200, 7)).isEqualTo(admit(10, 0, 2000));
    assertThat(counter.charge(400, 7)).isEqualTo(refuse(10, 1, 1800, 1200));
    assertThat(counter.charge(10_000, 1)).isEqualTo(admit(10, 9, 200));
  }

  @Test
  void retryAfterOfAChargedRefusalIncludesItsCharge() {
    var bucket = new History<>(new TokenBucket(1000, 60_000));
    bucket.charge(0, 1);
    assertThat(bucket.charge(0, 1000, Overrun.OVERDRAFT))
        .isEqualTo(refuse(1000, -1, 60_060, 60_060));
    var log = new History<>(new SlidingLog(2, 1000));
    log.charge(0, 1);
    assertThat(log.charge(100, 2, Overrun.OVERDRAFT)).isEqualTo(refuse(2, -1, 1000, 1000));
  }

  @Test
  void fixedWindowRestartsAtEveryMultipleOfItsLength() {
    var counter = new History<>(new FixedWindow(3, 1000));
    assertThat(counter.charge(1500, 1)).isEqualTo(admit(3, 2, 500));
    assertThat(counter.charge(1500, 2)).isEqualTo(admit(3, 0, 500));
    assertThat(counter.charge(1999, 1)).isEqualTo(refuse(3, 0, 1, 1));
    assertThat(counter.charge(2000, 3)).isEqualTo(admit(3, 0, 1000));
    assertThat(counter.charge(2000, 1)).isEqualTo(refuse(3, 0, 1000, 1000));
  }

  @Test
  void fixedWindowAdmitsTwiceTheLimitAroundABoundary() {
    var counter = new History<>(new FixedWindow(3, 1000));
    assertThat(counter.charge(999, 3).admitted()).isTrue();
    assertThat(counter.charge(1000, 3).admitted()).isTrue();
  }

  @Test
  void slidingWindowOfOneBucketFadesThePreviousOne() {
    var counter = new History<>(new SlidingWindow(50, 60_000, 1));
    assertThat(counter.charge(59_999, 42)).isEqualTo(admit(50, 8, 60_001));
    assertThat(counter.charge(60_000, 18)).isEqualTo(refuse(50, 8, 60_000, 14_286));
    assertThat(counter.charge(75_000, 1)).isEqualTo(admit(50, 17, 105_000));
  }

  @Test
  void slidingWindowMatchesThePublishedExample() {
    var counter = new History<>(new SlidingWindow(50, 60_000, 1));
    counter.charge(59_999, 42);
    counter.charge(75_000, 18); // 42 · 45/60 + 18 = 49.5
    assertThat(counter.charge(75_000, 1)).isEqualTo(refuse(50, 0, 105_000, 715));
    assertThat(counter.charge(75_715, 1).admitted()).isTrue();
  }

  @Test
  void slidingWindowExpiresOneSliceAtATime() {
    var counter = new History<>(new SlidingWindow(10, 1000, 10));
    assertThat(counter.charge(0, 10)).isEqualTo(admit(10, 0, 1100));
    assertThat(counter.charge(0, 1)).isEqualTo(refuse(10, 0, 1100, 1010));
    assertThat(counter.charge(999, 1)).isEqualTo(refuse(10, 0, 101, 11));
    assertThat(counter.charge(1000, 1)).isEqualTo(refuse(10, 0, 100, 10));
    assertThat(counter.charge(1050, 1)).isEqualTo(admit(10, 4, 1050));
    assertThat(counter.charge(1050, 4)).isEqualTo(admit(10, 0, 1050));
    assertThat(counter.charge(1050, 5)).isEqualTo(refuse(10, 0, 1050, 50));
    assertThat(counter.charge(1100, 1)).isEqualTo(admit(10, 4, 1100));
  }

  @Test
  void slidingLogFreesUnitsExactlyOneWindowAfterTheyWereCharged() {
    var counter = new History<>(new SlidingLog(2, 1000));
    assertThat(counter.charge(100, 1)).isEqualTo(admit(2, 1, 1000));
    assertThat(counter.charge(200, 1)).isEqualTo(admit(2, 0, 1000));
    assertThat(counter.charge(300, 1)).isEqualTo(refuse(2, 0, 900, 800));
    assertThat(counter.charge(300, 2)).isEqualTo(refuse(2, 0, 900, 900));
    assertThat(counter.charge(1099, 1)).isEqualTo(refuse(2, 0, 101, 1));
    assertThat(counter.charge(1100, 1)).isEqualTo(admit(2, 0, 1000));
    assertThat(counter.charge(1100, 3)).isEqualTo(refuse(2, 0, 1000, Decision.NEVER));
  }
}
