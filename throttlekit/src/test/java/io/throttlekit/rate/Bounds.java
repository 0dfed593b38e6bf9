package io.throttlekit.rate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** The most that each algorithm may admit, by its documentation. */
final class Bounds {
  private Bounds() {}

  /** Checks every span of {@code admitted} that ends with its newest entry. */
  static void check(RateAlgorithm<?> algorithm, List<Oracle.Entry> admitted) {
    switch (algorithm) {
      case FixedWindow a -> checkAligned(admitted, a.windowMillis(), 1, a.limit());
      case SlidingWindow a ->
          checkAligned(admitted, a.windowMillis() / a.buckets(), a.buckets(), a.limit());
      case SlidingLog a -> checkAnySpan(admitted, a.windowMillis(), a.limit());
      case Gcra a -> checkRate(admitted, a.rate(), a.windowMillis(), a.burst());
      case TokenBucket a -> checkRate(admitted, a.refill(), a.windowMillis(), a.capacity());
    }
  }

  /** Any {@code slices} consecutive aligned slices hold at most the limit. */
  private static void checkAligned(
      List<Oracle.Entry> admitted, long slice, int slices, long limit) {
    for (Oracle.Entry first : admitted) {
      long index = Math.floorDiv(first.at(), slice);
      long sum = 0;
      for (Oracle.Entry entry : admitted) {
        long age = Math.floorDiv(entry.at(), slice) - index;
        sum += age >= 0 && age < slices ? entry.units() : 0;
      }
      assertThat(sum).isLessThanOrEqualTo(limit);
    }
  }

  private static void checkAnySpan(List<Oracle.Entry> admitted, long window, long limit) {
    for (Oracle.Entry first : admitted) {
      long sum = 0;
      for (Oracle.Entry entry : admitted) {
        long age = entry.at() - first.at();
        sum += age >= 0 && age < window ? entry.units() : 0;
      }
      assertThat(sum).isLessThanOrEqualTo(limit);
    }
  }

  /** Consecutive admissions fit into the burst and the units regained by the clock in between. */
  private static void checkRate(List<Oracle.Entry> admitted, long rate, long window, long burst) {
    long earliest = Long.MAX_VALUE;
    long latest = Long.MIN_VALUE;
    long sum = 0;
    for (int i = admitted.size() - 1; i >= 0; i--) {
      earliest = Math.min(earliest, admitted.get(i).at());
      latest = Math.max(latest, admitted.get(i).at());
      sum += admitted.get(i).units();
      assertThat(sum * window).isLessThanOrEqualTo(burst * window + rate * (latest - earliest));
    }
  }
}
