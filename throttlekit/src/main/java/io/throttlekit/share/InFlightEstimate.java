package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import java.util.List;

/**
 * The requests in flight in a fleet, estimated from the digests of its nodes:
 *
 * <pre>
 * mean = Σ latencies / time, by Little's law
 * peak = mean + √Σ (peak of a node − its mean)², but at least half of 6 + Σ (usual peak of a node + 1)
 * </pre>
 *
 * <p>The peaks of the nodes do not coincide, so their sum is too much; independent deviations add
 * like their squares. A limit has room for twice the peak, and that must suffice for the share of
 * each node, which is its own peak and one more. Usual is the mean over some seconds: a limit keeps
 * the highest peak of a minute or so, and the highest one of each node would be too much. The 6
 * permits more are room for what begins; both were found by experiment, see docs/CONCURRENCY.md.
 * Not thread-safe.
 */
final class InFlightEstimate {
  /** How long digests count, until their weight has fallen to 1/e. */
  private static final double MEMORY_NANOS = 2e9;

  /** The same for the usual peak of a node. */
  private static final double PEAK_MEMORY_NANOS = 4e9;

  /** Permits that a limit has in addition to those of the nodes. */
  private static final int SPARE = 6;

  private double busyNanos;
  private double spanNanos;
  private double nodeNanos;
  private double digests;
  private double mean;

  /** The most that the mean can be. */
  private double maxMean;

  private double peak;
  private double sumOfPeaks;
  private double countOfPeaks;

  /**
   * Adds the digests of a span.
   *
   * @param nodes of the fleet
   * @param nanos length of the span, from 0
   */
  void add(List<SampleDigest> added, int nodes, long nanos) {
    double[] busy = added.stream().mapToDouble(SampleDigest::busyNanos).toArray();
    double kept = Math.exp(-nanos / MEMORY_NANOS);
    busyNanos *= kept;
    for (double one : busy) {
      busyNanos += one;
    }
    spanNanos = kept * spanNanos + nanos;
    nodeNanos = kept * nodeNanos + (double) nanos * nodes;
    digests = kept * digests + busy.length;
    if (spanNanos == 0 || digests == 0) {
      return;
    }
    double digestNanos = nodeNanos / digests; // a node may send several digests in the span
    double squares = 0;
    double peaks = 0;
    for (int i = 0; i < busy.length; i++) {
      double above = Math.max(0, added.get(i).inFlight() - busy[i] / digestNanos);
      squares += above * above;
      peaks += added.get(i).inFlight();
    }
    double usualPeaks = nodes * usualPeak(peaks, busy.length, nanos);
    double part = Math.min(1, (double) nodes / Math.max(1, busy.length));
    peaks *= part;
    mean = busyNanos / spanNanos;
    double likely = Math.max(mean + Math.sqrt(part * squares), (usualPeaks + nodes + SPARE) / 2);
    peak = Math.min(likely, peaks);
    // The digests of some nodes understate the peak of all.
    maxMean = busy.length < nodes ? Math.max(peak, kept * maxMean) : peak;
    mean = Math.min(mean, maxMean);
  }

  private double usualPeak(double peaks, int nodes, long nanos) {
    double kept = Math.exp(-nanos / PEAK_MEMORY_NANOS);
    sumOfPeaks = kept * sumOfPeaks + peaks;
    countOfPeaks = kept * countOfPeaks + nodes;
    return countOfPeaks == 0 ? 0 : sumOfPeaks / countOfPeaks;
  }

  /** Returns the mean. */
  double mean() {
    return mean;
  }

  /** Returns the most, from 1. */
  int peak() {
    return requests(Math.ceil(peak));
  }

  /**
   * Returns a number of requests in flight when one is admitted, itself included: the two whole
   * numbers around the mean of it are returned so often that this is their mean.
   *
   * <p>Requests that come at random find the mean. Where some are refused, those that are admitted
   * find one less: in a full limit, one is free for each of them.
   *
   * @param fraction from 0 to below 1
   * @param refused whether requests were refused
   */
  int whenAdmitted(double fraction, boolean refused) {
    return requests(Math.min(Math.floor(mean + (refused ? 0 : 1) + fraction), Math.ceil(maxMean)));
  }

  private static int requests(double number) {
    return (int) Math.clamp(number, 1, SampleDigest.MAX_REQUESTS);
  }
}
