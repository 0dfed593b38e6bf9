package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.service.server.Book;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedLimitTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  private final SharedLimit limit = steered("min: 4, max: 50");
  private long now;

  @Test
  void risesUnderDemandWithoutAQueue() {
    second(100, 20, 10);
    assertThat(limit.offer(now)).isEqualTo(20);
    seconds(20, 100, 20, 40);
    assertThat(limit.offer(now)).isEqualTo(50); // and never above max
  }

  @Test
  void staysWithoutReports() {
    seconds(5, 100, 20, 20);
    now += 2 * SECOND; // until the last requests count
    int before = limit.offer(now);
    for (int tick = 0; tick < 60; tick++) { // 30 s
      now += SECOND / 2;
      assertThat(limit.offer(now)).isEqualTo(before);
    }
  }

  @Test
  void fallsToTheMinimumIfEveryRequestTimesOut() {
    seconds(5, 100, 20, 20);
    now += 2 * SECOND; // until the last requests count
    int last = limit.offer(now);
    for (int second = 0; second < 60; second++) {
      now += SECOND;
      for (int i = 0; i < 60; i++) {
        limit.ended("a", Readings.TIMED_OUT, now - SECOND, now);
      }
      int next = limit.offer(now);
      if (second > 1) { // when the timeouts count
        assertThat(next).isBetween(4, last);
      }
      last = next;
    }
    assertThat(last).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void oneSlowRouteDoesNotLowerTheLimit(String algorithm) {
    int without = afterAMinute(algorithm, 0);
    assertThat(afterAMinute(algorithm, 100)).as("100 of 500 each second").isEqualTo(without);
  }

  /**
   * An unauthenticated client may send any number of invented entries. Half of the limit may be
   * more than the algorithm leaves once requests time out: room for a short queue beside the 25 in
   * flight.
   */
  @Test
  void timeoutsOfOneRouteLeaveTheOthersMoreThanTheyUse() {
    int without = afterAMinute("probed_vegas", 0);
    assertThat(afterAMinute("probed_vegas", 5_000)).isBetween(25 + 5, without * 9 / 10);
  }

  /** Between the runs the limit does not rise: no request is logged. */
  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void repeatedTimeoutsOfOneRouteLowerTheLimitByAtMostHalf(String algorithm) {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60, algorithm: " + algorithm);
    for (int run = 0; run < 5; run++) {
      timeouts(limit, 40, 40);
      now += 61 * SECOND;
    }
    assertThat(limit.offer(now)).isBetween(24, 40);
  }

  @Test
  void timeoutsLowerByAtMostHalfWhileAnotherRouteHasFewRequests() {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60");
    timeouts(limit, 120, 1);
    assertThat(limit.offer(now)).isBetween(24, 45);
  }

  @Test
  void timeoutsOfTheOnlyClientLowerTheLimitToItsMinimum() {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60");
    timeouts(limit, 120, 0);
    assertThat(limit.offer(now)).isEqualTo(1);
  }

  @Test
  void afterTimeoutsOfAllRoutesThoseOfOneMayHalveTheLimitAgain() {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60");
    timeouts(limit, 20, 0);
    int afterAll = limit.offer(now);
    assertThat(afterAll).isBetween(10, 40);
    timeouts(limit, 60, 40);
    assertThat(limit.offer(now)).isBetween(afterAll * 2 / 5, afterAll - 1);
  }

  @Test
  void timeoutsHalveALimitReplacedByALowerMaximum() {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60");
    timeouts(limit, 40, 40);
    Rule next = rule("min: 1, max: 20");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(limit.offer(now)).isEqualTo(20);
    timeouts(limit, 39, 40);
    assertThat(limit.offer(now)).isBetween(8, 16);
  }

  /** Logs 500 timeouts a second of one route and client, and answers of others. */
  private void timeouts(SharedLimit limit, int seconds, int answersPerSecond) {
    for (int second = 0; second < seconds; second++) {
      now += SECOND;
      limit.reported("a", 1, Readings.load(25, answersPerSecond), now);
      answered(limit, answersPerSecond, Readings.answered(20 * MILLI), now);
      for (int i = 0; i < 500; i++) {
        limit.ended("a", Readings.timedOut("slow"), now - SECOND, now);
      }
      limit.acknowledged(limit.offer(now), now);
    }
  }

  private static int afterAMinute(String algorithm, int timeouts) {
    SharedLimit limit = steered("min: 1, max: 100, initial: 60, algorithm: " + algorithm);
    long at = 0;
    for (int second = 0; second < 60; second++) {
      at += SECOND;
      limit.reported("a", 1, Readings.load(25, 400), at);
      answered(limit, 400, Readings.answered(20 * MILLI, "fast"), at);
      for (int i = 0; i < timeouts; i++) {
        limit.ended("a", Readings.timedOut("slow"), at - SECOND, at);
      }
      limit.acknowledged(limit.offer(at), at);
    }
    return limit.offer(at);
  }

  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void refusalsAndErrorsMoveNoAlgorithm(String algorithm) {
    SharedLimit flooded = steered("algorithm: " + algorithm);
    int before = flooded.offer(0);
    for (int i = 0; i < 100_000; i++) {
      now += MILLI;
      flooded.ended("a", Readings.REFUSED, now, now);
      flooded.ended("a", Readings.of(Kind.RATE_LIMITED, 0), now, now);
      flooded.ended("a", Readings.of(Kind.SERVER_ERROR, 0), now, now);
    }
    assertThat(flooded.offer(now)).isEqualTo(before);
    assertThat(flooded.demands(now)).hasSize(1).allMatch(demand -> demand.refused() == 100_000);
  }

  /** One client can use up the share of one Envoy, and get a request refused, at any time. */
  @Test
  void refusalsOfOneEnvoyDoNotRaiseALimitThatIsHardlyUsed() {
    SharedLimit hardly = steered("min: 4, max: 10000, initial: 60");
    Map<String, Long> shares = new HashMap<>();
    IntStream.range(0, 20).forEach(i -> shares.put("e" + i, 3L));
    hardly.granted(shares);
    for (int second = 1; second <= 60; second++) {
      now = second * SECOND;
      shares.keySet().forEach(node -> hardly.reported(node, 1, Readings.load(1, 20), now));
      if (second % 2 == 0) {
        hardly.ended("e0", Readings.REFUSED, now, now);
      }
      for (int i = 1; i <= 400; i++) {
        long began = now - i * SECOND / 400 - 20 * MILLI;
        hardly.ended("e" + i % 20, Readings.answered(20 * MILLI), began, now);
      }
      assertThat(hardly.offer(now)).isLessThanOrEqualTo(60);
    }
    assertThat(hardly.offer(now)).as("1 + 20 + 3.5 · √20").isEqualTo(36);
  }

  @ParameterizedTest
  @ValueSource(strings = {"probed_vegas", "gradient2", "vegas", "aimd", "failsafe"})
  void staysInItsRangeUnderAnyReports(String algorithm) {
    SharedLimit any = steered("min: 20, max: 60, algorithm: " + algorithm);
    long[] latencies = {1, MILLI, 20 * MILLI, 3_600 * SECOND, Long.MAX_VALUE / 4};
    for (int i = 0; i < 50_000; i++) {
      now += (i % 7) * MILLI;
      Reading reading =
          switch (i % 13) {
            case 0 -> Readings.REFUSED;
            case 1, 2, 3 -> Readings.TIMED_OUT;
            default -> Readings.answered(latencies[i % 5]);
          };
      any.ended("e" + i % 3, reading, now - latencies[i % 5], now);
      any.reported(
          "e" + i % 2, 1, Readings.load(i % 11 == 0 ? Long.MAX_VALUE : i % 90, i % 5), now);
      any.acknowledged(any.offer(now), now);
      assertThat(any.offer(now)).isBetween(20, 60);
    }
  }

  /** The missing entries are the slow ones. */
  @Test
  void doesNotRiseWhileLogEntriesAreLost() {
    seconds(2, 100, 20, 1);
    int before = limit.offer(now);
    for (int second = 0; second < 20; second++) {
      limit.reported("a", 1, Readings.load(40, 200), now);
      second(100, 20, 40);
      limit.offer(now);
    }
    assertThat(limit.held()).isTrue();
    assertThat(limit.offer(now)).isLessThan(50);
    int held = limit.offer(now);
    seconds(20, 100, 20, 40);
    assertThat(limit.offer(now)).isGreaterThan(held);
    assertThat(limit.held()).isFalse();
    assertThat(before).isEqualTo(20);
  }

  /** Otherwise any reporter could keep all limits from rising. */
  @Test
  void reportsOfAnEnvoyWithoutAShareDoNotHoldTheLimit() {
    limit.granted(Map.of("a", 20L));
    for (int second = 0; second < 20; second++) {
      limit.reported("invented", 7, Readings.load(0, 1L << 40), now);
      second(100, 20, 5);
      limit.offer(now);
    }
    assertThat(limit.held()).isFalse();
  }

  @Test
  void aHeldLimitAppliesItsNewRange() {
    for (int second = 0; second < 20; second++) {
      limit.reported("a", 1, Readings.load(5, 200), now);
      second(100, 20, 5);
      limit.offer(now);
    }
    assertThat(limit.held()).isTrue();
    Rule next = rule("min: 40, max: 50");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(limit.offer(now)).isEqualTo(40);
    assertThat(limit.held()).isTrue();
  }

  /** 8 servers of 20 ms, 1.1 times the load, and a tenth of the log missing after 40 s. */
  @Test
  void aMeasurementDoesNotReleaseAHeldLimit() {
    SharedLimit busy = steered("min: 4, max: 200");
    int first = 0;
    int last = 0;
    int least = Integer.MAX_VALUE;
    int atTheEnd = 0; // outside a measurement, which lasts a few seconds
    for (int second = 0; second < 390; second++) {
      now += SECOND;
      last = busy.offer(now);
      least = second > 41 ? Math.min(least, last) : least;
      first = second == 41 ? last : first;
      atTheEnd = second >= 370 ? Math.max(atTheEnd, last) : atTheEnd;
      busy.acknowledged(last, now - SECOND / 2);
      int inFlight = last - second % 3 * last / 10; // latency follows it
      busy.reported("a", 1, Readings.load(inFlight, 400), now);
      long rtt = Math.max(20, inFlight * 5 / 2) * MILLI;
      answered(busy, second >= 40 ? 360 : 400, Readings.answered(rtt), now);
      for (int i = 0; i < 40; i++) {
        busy.ended("a", Readings.REFUSED, now, now);
      }
    }
    assertThat(busy.held()).isTrue();
    assertThat(least).as("a measurement").isLessThanOrEqualTo(first * 3 / 4);
    assertThat(atTheEnd).isBetween(first * 3 / 4, first);
  }

  @Test
  void aMeasurementEndsWithoutLogEntries() {
    SharedLimit busy = steered("min: 4, max: 200, initial: 100");
    int before = 100;
    int lowered = before;
    for (int second = 0; second < 90 && lowered > before * 4 / 5; second++) {
      before = lowered;
      now += SECOND;
      busy.acknowledged(busy.offer(now), now);
      busy.reported("a", 1, Readings.load(busy.offer(now), 400), now);
      long rtt = Math.max(20, busy.offer(now) * 5 / 2) * MILLI; // of 8 servers
      answered(busy, 400, Readings.answered(rtt), now);
      for (int i = 0; i < 40; i++) {
        busy.ended("a", Readings.REFUSED, now, now);
      }
      lowered = busy.offer(now);
    }
    assertThat(lowered).as("a measurement").isLessThanOrEqualTo(before * 4 / 5);
    for (int tick = 0; tick < 62; tick++) {
      now += SECOND / 2;
      busy.offer(now);
    }
    assertThat(busy.offer(now)).isBetween(before, before * 3 / 2); // it had only just grown
  }

  @Test
  void anotherAlgorithmStartsAtTheCurrentLimit() {
    seconds(20, 100, 20, 40);
    assertThat(limit.offer(now)).isEqualTo(50);
    Rule next = rule("algorithm: vegas, min: 2, max: 40");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(limit.offer(now)).isEqualTo(40);
    assertThat(limit.rule()).isSameAs(next);
  }

  @Test
  void aReloadOfTheSameRuleKeepsTheLearnedLimit() {
    seconds(20, 100, 20, 40);
    assertThat(limit.offer(now)).isEqualTo(50);
    Rule next = rule("min: 4, max: 50");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(limit.offer(now)).isEqualTo(50);
  }

  /** Event loops that read access logs wait for the same lock. */
  @Test
  void changesAndReloadsAreReportedOutsideTheLock() {
    List<String> changes = new ArrayList<>();
    AtomicReference<@Nullable SharedLimit> self = new AtomicReference<>();
    ConcurrencyListener listener =
        new ConcurrencyListener() {
          @Override
          public void limitChanged(Rule rule, int before, int now) {
            assertThat(Thread.holdsLock(Objects.requireNonNull(self.get()))).isFalse();
            changes.add(before + " -> " + now);
          }
        };
    Rule first = rule("min: 1, max: 100, initial: 60");
    SharedLimit limit =
        new SharedLimit(first, Objects.requireNonNull(first.concurrency()), listener, 0);
    self.set(limit);
    Rule next = rule("min: 1, max: 20");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(changes).containsExactly("60 -> 20");
    limit.follow(next, Objects.requireNonNull(next.concurrency()));
    assertThat(changes).hasSize(1);
    timeouts(limit, 20, 0);
    assertThat(changes).hasSizeGreaterThan(1);
  }

  private void seconds(int seconds, int requests, int millis, int inFlight) {
    for (int second = 0; second < seconds; second++) {
      second(requests, millis, inFlight);
    }
  }

  /** Sends a second of requests with this latency, at its end. */
  private void second(int requests, int millis, int inFlight) {
    now += SECOND;
    limit.reported("a", 1, Readings.load(inFlight, requests), now);
    answered(limit, requests, Readings.answered(millis * MILLI), now);
    limit.offer(now);
  }

  /** Logs requests that ended one after another within the last second. */
  private static void answered(SharedLimit limit, int requests, Reading reading, long at) {
    for (int i = 1; i <= requests; i++) {
      long ended = at - SECOND + i * SECOND / requests;
      limit.ended("a", reading, ended - reading.rttNanos(), at);
    }
  }

  private static SharedLimit steered(String terms) {
    Rule rule = rule(terms);
    ConcurrencyRule limit = Objects.requireNonNull(rule.concurrency());
    return new SharedLimit(rule, limit, ConcurrencyListener.NONE, 0);
  }

  private static Rule rule(String terms) {
    return Book.of(
            """
            domain: shop
            descriptors:
              - {key: up, concurrency: {gate: envoy, cluster: up, %s}}
            """
                .formatted(terms))
        .rules()
        .getFirst();
  }
}
