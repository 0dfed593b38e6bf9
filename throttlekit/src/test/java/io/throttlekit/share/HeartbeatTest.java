package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Heartbeat.Publication;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What nodes report, with numbers of another release or of a broken host. */
class HeartbeatTest {
  private static final int MOST = 1 << 30;

  @Test
  void clampsNumbersThatAreTooSmall() {
    int least = Integer.MIN_VALUE;
    Heartbeat beat =
        new Heartbeat(
            "k",
            "n",
            1,
            1,
            least,
            true,
            least,
            least,
            Long.MIN_VALUE,
            0,
            Long.MIN_VALUE,
            Long.MIN_VALUE,
            null,
            null);
    assertThat(beat)
        .isEqualTo(new Heartbeat("k", "n", 1, 1, 1, true, 0, 0, 0, 0, 1, 0, null, null));
    assertThat(beat.localLimit()).isEqualTo(1);
    assertThat(beat.inFlight()).isZero();
    assertThat(beat.peak()).isZero();
    assertThat(beat.refused()).isZero();
    assertThat(beat.leaseMillis()).isEqualTo(1);
    assertThat(beat.permitMillis()).isZero();
    assertThat(new Publication(3, least).limit()).isEqualTo(1);
    assertThat(new Departure("k", "n", 1, least).inFlight()).isZero();
  }

  @Test
  void clampsNumbersThatAreTooLarge() {
    int most = Integer.MAX_VALUE;
    Heartbeat beat =
        new Heartbeat(
            "k",
            "n",
            1,
            1,
            most,
            true,
            most,
            most,
            Long.MAX_VALUE,
            0,
            Long.MAX_VALUE,
            Long.MAX_VALUE,
            null,
            null);
    assertThat(beat.localLimit()).isEqualTo(MOST);
    assertThat(beat.inFlight()).isEqualTo(MOST);
    assertThat(beat.peak()).isEqualTo(MOST);
    assertThat(beat.refused()).isEqualTo(MOST);
    assertThat(beat.leaseMillis()).isEqualTo(3_600_000);
    assertThat(beat.permitMillis()).as("a day").isEqualTo(86_400_000);
    assertThat(new Publication(3, most).limit()).isEqualTo(MOST);
    assertThat(new Departure("k", "n", 1, most).inFlight()).isEqualTo(MOST);
  }

  @Test
  void thePeakIsAtLeastWhatIsInFlight() {
    assertThat(new Heartbeat("k", "n", 1, 1, 1, true, 7, 3, 0, 0, 1, 0, null, null).peak())
        .isEqualTo(7);
  }

  @Test
  void clampsTheNumbersOfADigestAndSortsItsLatencies() {
    List<Long> latencies = List.of(7L, -3L, Long.MAX_VALUE);
    SampleDigest small = new SampleDigest(3, -1, -1, -1, true, RequestStatistics.NONE, latencies);
    assertThat(small)
        .isEqualTo(
            new SampleDigest(
                3, 0, 0, 0, true, RequestStatistics.NONE, List.of(1L, 7L, 3_600_000_000_000L)));
    long most = Long.MAX_VALUE;
    assertThat(
            new SampleDigest(
                most, most, most, Integer.MAX_VALUE, true, RequestStatistics.NONE, latencies))
        .isEqualTo(
            new SampleDigest(
                1L << 40, 1L << 40, 1L << 40, MOST, true, RequestStatistics.NONE, latencies));
  }

  @Test
  void clampsTheStatisticsOfADigest() {
    long hour = 3_600_000_000_000L;
    long least = Long.MIN_VALUE;
    assertThat(new RequestStatistics(least, least, least))
        .isEqualTo(new RequestStatistics(-hour, 0, 1_000));
    long most = Long.MAX_VALUE;
    assertThat(new RequestStatistics(most, most, most))
        .isEqualTo(new RequestStatistics(hour, hour, 1_000_000));
    assertThat(new RequestStatistics(-hour, 0, 1_000))
        .extracting(
            RequestStatistics::slopeNanos,
            RequestStatistics::errorNanos,
            RequestStatistics::dispersion)
        .containsExactly(-hour, 0L, 1_000L);
    assertThat(new RequestStatistics(hour, hour, 1_000_000))
        .extracting(
            RequestStatistics::slopeNanos,
            RequestStatistics::errorNanos,
            RequestStatistics::dispersion)
        .containsExactly(hour, hour, 1_000_000L);
    assertThat(RequestStatistics.NONE).isEqualTo(new RequestStatistics(0, 0, 1_000));
  }

  @Test
  void aDigestHasLatenciesIfItHasSamples() {
    assertThat(new SampleDigest(-1, 0, 0, 0, false, RequestStatistics.NONE, List.of()).answered())
        .isZero();
    assertThatThrownBy(() -> new SampleDigest(1, 0, 0, 0, false, RequestStatistics.NONE, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("0 latencies of 1 samples; a digest has from 1 to 20, and none of no samples");
    assertThatThrownBy(
            () -> new SampleDigest(0, 0, 0, 0, false, RequestStatistics.NONE, List.of(1L)))
        .isInstanceOf(IllegalArgumentException.class);
    List<Long> many = Collections.nCopies(SampleDigest.MAX_LATENCIES + 1, 1L);
    assertThatThrownBy(() -> new SampleDigest(21, 0, 0, 0, false, RequestStatistics.NONE, many))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
