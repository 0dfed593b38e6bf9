package io.throttlekit.limit.stats;

import java.util.Arrays;

/**
 * A mean latency that ignores short interruptions: the interquartile mean of the means of groups of
 * requests that ended one after another. A pause of the process or of the backend stretches the
 * latency of all requests in flight, but these end together, in one group or two; the outliers of a
 * plain mean or trimmed mean would be most of a small sample.
 *
 * <p>Latencies are summed by the tenth of a second in which they ended, and adjacent sums are
 * joined to groups. The {@value #SLICES} latest slices are kept; older ones are joined. Not
 * thread-safe.
 */
public final class SlicedMean {
  private static final int SLICES = 64;
  private static final long SLICE_NANOS = 100_000_000;

  /** The least number of latencies in a group: means of fewer are as skewed as latencies. */
  private static final int MIN_GROUP = 5;

  /** The number of groups that a sample is divided into, if there are enough latencies. */
  private static final int GROUPS = 12;

  private static final double TRIMMED = 0.25; // at each end

  private final long[] slices = new long[SLICES];
  private final double[] sums = new double[SLICES];
  private final int[] counts = new int[SLICES];
  private int size;
  private int count;
  private double sum;
  private double squares;

  /**
   * Adds a latency.
   *
   * @param endNanos when the request ended, monotonic; in any order
   * @param nanos from 0
   */
  public void add(long endNanos, long nanos) {
    int at = slice(Math.floorDiv(endNanos, SLICE_NANOS));
    sums[at] += nanos;
    counts[at]++;
    count++;
    sum += nanos;
    squares += (double) nanos * nanos;
  }

  public int count() {
    return count;
  }

  /** Returns the standard error of a plain mean, relative to it. */
  public double relativeError() {
    double mean = sum / count;
    return Math.sqrt(Math.max(0, squares / count - mean * mean) / count) / mean;
  }

  /**
   * Returns the mean.
   *
   * @throws IllegalStateException when there is no latency
   */
  public double mean() {
    if (count == 0) {
      throw new IllegalStateException("there is no mean of nothing");
    }
    Group[] groups = new Group[size];
    int number = 0;
    int least = Math.max(MIN_GROUP, count / GROUPS);
    Group group = new Group(0, 0);
    for (int i = 0; i < size; i++) {
      group = new Group(group.sum + sums[i], group.count + counts[i]);
      if (group.count >= least) {
        groups[number++] = group;
        group = new Group(0, 0);
      }
    }
    if (group.count > 0 && number > 0) { // too few for a group of their own
      Group last = groups[number - 1];
      groups[number - 1] = new Group(last.sum + group.sum, last.count + group.count);
    } else if (group.count > 0) {
      groups[number++] = group;
    }
    Arrays.sort(groups, 0, number);
    return interquartile(groups, number);
  }

  public void reset() {
    size = 0;
    count = 0;
    sum = 0;
    squares = 0;
  }

  private double interquartile(Group[] sorted, int number) {
    double from = TRIMMED * count;
    double to = (1 - TRIMMED) * count;
    double before = 0;
    double inside = 0;
    for (int i = 0; i < number; i++) {
      double end = before + sorted[i].count;
      inside += Math.max(0, Math.min(to, end) - Math.max(from, before)) * sorted[i].mean();
      before = end;
    }
    return inside / (to - from);
  }

  /** Returns the index of a slice, which is created if necessary. Slices are in order of time. */
  private int slice(long slice) {
    int at = size;
    while (at > 0 && slices[at - 1] > slice) {
      at--;
    }
    if (at > 0 && slices[at - 1] == slice) {
      return at - 1;
    }
    if (size == SLICES) {
      if (at == 0) { // older than all: counts as the oldest
        return 0;
      }
      sums[1] += sums[0];
      counts[1] += counts[0];
      move(1, 0, SLICES - 1);
      size--;
      at--;
    }
    move(at, at + 1, size - at);
    slices[at] = slice;
    sums[at] = 0;
    counts[at] = 0;
    size++;
    return at;
  }

  private void move(int from, int to, int length) {
    System.arraycopy(slices, from, slices, to, length);
    System.arraycopy(sums, from, sums, to, length);
    System.arraycopy(counts, from, counts, to, length);
  }

  /** Requests that ended one after another, ordered by their mean latency. */
  private record Group(double sum, int count) implements Comparable<Group> {

    double mean() {
      return sum / count;
    }

    @Override
    public int compareTo(Group other) {
      return Double.compare(mean(), other.mean());
    }
  }
}
