package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PausesTest {
  private final RandomGenerator random = new SplittableRandom(42);

  @Test
  void pausesOfReplicasSpreadOverTheWholeRange() {
    long[] millis =
        LongStream.range(0, 1_000)
            .map(_ -> ReconnectBackoff.DEFAULT.pauseNanos(true, 0, random) / 1_000_000)
            .toArray();
    assertThat(LongStream.of(millis).min().orElseThrow()).isBetween(5_000L, 5_100L);
    assertThat(LongStream.of(millis).max().orElseThrow()).isBetween(14_900L, 15_000L);
  }

  @Test
  void theMaximumHoldsAfterAnyNumberOfFailures() {
    for (int failures : List.of(5, 31, 32, 63, 64, 1_000, Integer.MAX_VALUE)) {
      assertThat(ReconnectBackoff.DEFAULT.pauseNanos(false, failures, random))
          .isBetween(Duration.ofSeconds(30).toNanos(), Duration.ofSeconds(90).toNanos());
    }
  }

  @Test
  void eachPauseIsTheLastOneTimesItsGrowth() {
    Duration second = Duration.ofSeconds(1);
    Duration minute = Duration.ofMinutes(1);
    var growing = new ReconnectBackoff(second, second, minute, 3, 0);
    var constant = new ReconnectBackoff(second, second, minute, 1, 0);
    assertThat(
            IntStream.range(0, 5)
                .mapToLong(n -> growing.pauseNanos(true, n, random) / 1_000_000_000))
        .containsExactly(1L, 3L, 9L, 27L, 60L);
    assertThat(constant.pauseNanos(true, 1_000, random)).isEqualTo(second.toNanos());
  }

  @Test
  void aPauseIsNeverZero() {
    Duration shortest = Duration.ofMillis(1);
    ReconnectBackoff backoff = new ReconnectBackoff(shortest, shortest, shortest, 2, 1);
    RandomGenerator zero = () -> 0;
    assertThat(backoff.pauseNanos(true, 0, zero)).isPositive();
  }

  @Test
  void settingsOutOfRangeAreRejected() {
    Duration second = Duration.ofSeconds(1);
    for (double jitter : List.of(-0.1, 1.1, Double.NaN)) {
      assertThatThrownBy(() -> new ReconnectBackoff(second, second, second, 2, jitter))
          .hasMessageContaining("from 0 to 1");
    }
    assertThatThrownBy(() -> new ReconnectBackoff(Duration.ZERO, second, second, 2, 0))
        .hasMessageContaining("at least 1 ms");
    assertThatThrownBy(() -> new ReconnectBackoff(second, second, Duration.ofMillis(999), 2, 0))
        .hasMessageContaining("not below the first");
    for (double growth : List.of(0.9, Double.NaN)) {
      assertThatThrownBy(() -> new ReconnectBackoff(second, second, second, growth, 0))
          .hasMessageContaining("from 1");
    }
  }

  @Test
  void headersThatHttp2DoesNotAllowAreRejectedWhenTheyAreSet() {
    SubscriptionSettings settings = Subscribed.SETTINGS;
    for (Map<String, String> headers : List.of(Map.of("a b", "1"), Map.of("a", "1\r\nb: 2"))) {
      assertThatThrownBy(() ->
              new SubscriptionSettings(
                  settings.typeUrl(), settings.node(), headers, settings.backoff()))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
