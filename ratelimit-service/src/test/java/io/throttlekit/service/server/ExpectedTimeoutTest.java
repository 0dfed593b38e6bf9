package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Deadline;
import io.grpc.Metadata;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpectedTimeoutTest {
  private static final String HEADER = "x-envoy-expected-rq-timeout-ms";
  private static final Deadline.Ticker STOPPED =
      new Deadline.Ticker() {
        @Override
        public long nanoTime() {
          return 0;
        }
      };

  @ParameterizedTest
  @CsvSource({"200, 180000", "20, 18000", "5, 3000", "2, 0", "1, 0", "99999999, 77760000000"})
  void aTenthOfTheTimeoutAndAtLeastTwoMillisAreReserved(String millis, long micros) {
    assertThat(waitTimeout(millis)).isEqualTo(TimeUnit.MICROSECONDS.toNanos(micros));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-5", "2.5", "20ms", "٢٠", "999999999", "18446744073709551617"})
  void aMalformedTimeoutIsIgnored(String text) {
    assertThat(waitTimeout(text)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void withoutATimeoutTheWaitIsUnlimited() {
    assertThat(ExpectedTimeout.waitTimeoutNanos(new Metadata(), null, 0, 0))
        .isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theCallsDeadlineAppliesIfItIsNearer() {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of(HEADER, Metadata.ASCII_STRING_MARSHALLER), "20");
    Deadline eight = Deadline.after(8, TimeUnit.MILLISECONDS, STOPPED);
    Deadline over = Deadline.after(-8, TimeUnit.MILLISECONDS, STOPPED);
    assertThat(ExpectedTimeout.waitTimeoutNanos(headers, eight, 0, 0)).isEqualTo(6_000_000);
    assertThat(ExpectedTimeout.waitTimeoutNanos(new Metadata(), eight, 0, 0)).isEqualTo(6_000_000);
    assertThat(ExpectedTimeout.waitTimeoutNanos(headers, over, 0, 0)).isZero();
  }

  @Test
  void theCallsDeadlineIsMeasuredFromItsArrival() {
    Deadline forty = Deadline.after(40, TimeUnit.MILLISECONDS, STOPPED);
    assertThat(ExpectedTimeout.waitTimeoutNanos(new Metadata(), forty, 15_000_000, 0))
        .as("it lay unread for 15 ms")
        .isEqualTo(21_000_000);
    assertThat(ExpectedTimeout.waitTimeoutNanos(new Metadata(), forty, 25_000_000, 10_000_000))
        .as("and was read 10 ms ago, so its caller waits for 50 ms")
        .isEqualTo(20_000_000);
    assertThat(ExpectedTimeout.waitTimeoutNanos(new Metadata(), forty, 40_000_000, 0)).isZero();
  }

  @Test
  void theElapsedTimeOfTheCallIsSubtracted() {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of(HEADER, Metadata.ASCII_STRING_MARSHALLER), "100");
    assertThat(ExpectedTimeout.waitTimeoutNanos(headers, null, 40_000_000, 0))
        .isEqualTo(50_000_000);
    assertThat(ExpectedTimeout.waitTimeoutNanos(headers, null, 90_000_000, 0)).isZero();
    assertThat(ExpectedTimeout.waitTimeoutNanos(headers, null, 500_000_000, 0)).isZero();
  }

  private static long waitTimeout(String text) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of(HEADER, Metadata.ASCII_STRING_MARSHALLER), text);
    return ExpectedTimeout.waitTimeoutNanos(headers, null, 0, 0);
  }
}
