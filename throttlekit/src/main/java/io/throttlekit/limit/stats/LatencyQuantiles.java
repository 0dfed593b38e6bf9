package io.throttlekit.limit.stats;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * Quantiles of latencies, added in any order. Up to {@value #EXACT} latencies are kept, with
 * Hazen's interpolation (position {@code q·n − ½}). From the next one on they are counted in
 * buckets that divide each octave in 64, and results are off by less than 1/64 of the value. Adding
 * is O(1); memory is 512 bytes, and 15 KB from the 65th latency on.
 */
public final class LatencyQuantiles {
  static final int EXACT = 64; // above the 50 samples that end a window by default
  private static final int TRIMMED_MEAN_QUANTILES = 20;
  private static final int OCTAVE = 64; // buckets per octave; their relative width is the error
  private static final int OCTAVE_BITS = 6; // log2 of OCTAVE
  private static final int BUCKETS = (Long.SIZE - 1 - OCTAVE_BITS + 1) * OCTAVE; // up to 2^63

  private final long[] exact = new long[EXACT];
  private int[] buckets = {};
  private int count;
  private long min = Long.MAX_VALUE;
  private long max;

  /**
   * Adds a latency.
   *
   * @param nanos from 0
   */
  public void add(long nanos) {
    if (count < EXACT) {
      exact[count] = nanos;
    } else {
      if (count == EXACT) {
        spread();
      }
      buckets[bucketOf(nanos)]++;
    }
    count++;
    min = Math.min(min, nanos);
    max = Math.max(max, nanos);
  }

  public int count() {
    return count;
  }

  /** Returns the shortest latency, or {@link Long#MAX_VALUE} if there is none. */
  public long min() {
    return min;
  }

  /**
   * Returns the latency below which the share {@code q} of them lies.
   *
   * @param q from 0 to 1
   * @throws IllegalStateException when there is no latency
   */
  public double quantile(double q) {
    if (count == 0) {
      throw new IllegalStateException("there is no quantile of nothing");
    }
    if (count <= EXACT) {
      Arrays.sort(exact, 0, count);
      return interpolated(q, count, rank -> (double) exact[rank]);
    }
    return interpolated(q, count, this::ranked);
  }

  /**
   * Returns a quantile by Hazen's interpolation.
   *
   * @param count of the values, from 1
   * @param value returns the value of a rank, from 0, ascending
   */
  public static double interpolated(double q, int count, IntToDoubleFunction value) {
    double position = Math.clamp(q * count - 0.5, 0.0, count - 1.0);
    int below = (int) position;
    int above = Math.min(below + 1, count - 1);
    double low = value.applyAsDouble(below);
    return low + (value.applyAsDouble(above) - low) * (position - below);
  }

  /**
   * Returns the mean of {@value #TRIMMED_MEAN_QUANTILES} quantiles. It ignores the 2.5 % of the
   * latencies at each end, and follows a skewed distribution where a median does not.
   *
   * @throws IllegalStateException when there is no latency
   */
  public double trimmedMean() {
    double sum = 0;
    for (int i = 0; i < TRIMMED_MEAN_QUANTILES; i++) {
      sum += quantile((i + 0.5) / TRIMMED_MEAN_QUANTILES);
    }
    return sum / TRIMMED_MEAN_QUANTILES;
  }

  public void reset() {
    if (count > EXACT) {
      // All latencies are between min and max: other buckets are 0 already.
      Arrays.fill(buckets, bucketOf(min), bucketOf(max) + 1, 0);
    }
    count = 0;
    min = Long.MAX_VALUE;
    max = 0;
  }

  private void spread() {
    if (buckets.length == 0) {
      buckets = new int[BUCKETS];
    }
    for (long nanos : exact) {
      buckets[bucketOf(nanos)]++;
    }
  }

  private double ranked(int rank) {
    if (rank == count - 1) {
      return (double) max;
    }
    int before = 0;
    int bucket = bucketOf(min);
    while (before + buckets[bucket] <= rank) {
      before += buckets[bucket++];
    }
    double place = (rank - before + 0.5) / buckets[bucket];
    int shift = Math.max(0, bucket / OCTAVE - 1);
    double low = (double) ((long) (bucket - shift * OCTAVE) << shift);
    double width = (double) (1L << shift);
    return Math.clamp(low + (width - 1) * place, (double) min, (double) max);
  }

  private static int bucketOf(long nanos) {
    // nanos | 1: the logarithm of 0 is not defined.
    int shift = Math.max(0, Long.SIZE - 1 - OCTAVE_BITS - Long.numberOfLeadingZeros(nanos | 1));
    return shift * OCTAVE + (int) (nanos >>> shift);
  }
}
