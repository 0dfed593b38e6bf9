package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import java.util.Arrays;
import java.util.List;

/**
 * The requests in flight in a fleet, estimated from the digests of its nodes:
 *
 * <pre>
 * mean = throughput · latency, by Little's law, at most the peak
 * peak = mean + √Σ (peak of a node − its mean)², at most Σ peaks of the nodes
 * divided = Σ √(mean of a node) − √mean
 * </pre>
 *
 * <p>The peaks of the nodes do not coincide, so their sum is too much; independent deviations add
 * like their squares. The throughput is a mean over some seconds, as the digests of all nodes do
 * not come at the same time; the latency is the mean of the last digests only, so that the mean in
 * flight belongs to their samples. Not thread-safe.
 */
final class InFlightEstimate {
  /** How long digests count, until their weight has fallen to 1/e. */
  private static final double MEMORY_NANOS = 2e9;

  /** How long the roots of the nodes' means count, until their weight has fallen to 1/e. */
  private static final double ROOTS_MEMORY_NANOS = 4e9;

  // Sums that fade: the requests that were answered, the spans, the spans of each node, the
  // digests.
  private double requests;
  private double spanNanos;
  private double nodeNanos;
  private double digests;

  /** Mean of the last digests, in ns. */
  private double latency;

  private double mean;

  /** The most that the mean can be. */
  private double maxMean;

  private double peak;

  /** Sum of the square roots of the means of nodes, and their number; both fade. */
  private double roots;

  private double countOfRoots;
  private int nodes;

  /**
   * Adds the digests of a span.
   *
   * @param nodes of the fleet
   * @param nanos length of the span, from 0
   */
  void add(List<SampleDigest> added, int nodes, long nanos) {
    this.nodes = nodes;
    double[] busy = added.stream().mapToDouble(SampleDigest::busyNanos).toArray();
    double kept = Math.exp(-nanos / MEMORY_NANOS);
    long answered = added.stream().mapToLong(SampleDigest::answered).sum();
    requests = kept * requests + answered;
    if (answered > 0) {
      latency = Arrays.stream(busy).sum() / answered;
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
    double sumOfRoots = 0;
    for (int i = 0; i < busy.length; i++) {
      double meanOfNode = busy[i] / digestNanos;
      double above = Math.max(0, added.get(i).inFlight() - meanOfNode);
      sumOfRoots += Math.sqrt(meanOfNode);
      squares += above * above;
      peaks += added.get(i).inFlight();
    }
    addRoots(sumOfRoots, busy.length, nanos);
    double part = Math.min(1, (double) nodes / Math.max(1, busy.length));
    peaks *= part;
    mean = requests * latency / spanNanos;
    double likely = mean + Math.sqrt(part * squares);
    peak = Math.min(likely, peaks);
    // The digests of some nodes understate the peak of all.
    maxMean = busy.length < nodes ? Math.max(peak, kept * maxMean) : peak;
    mean = Math.min(mean, maxMean);
  }

  private void addRoots(double sum, int count, long nanos) {
    double kept = Math.exp(-nanos / ROOTS_MEMORY_NANOS);
    roots = kept * roots + sum;
    countOfRoots = kept * countOfRoots + count;
  }

  /**
   * Returns by how much the standard deviations of the nodes, summed, exceed the deviation of all
   * requests together. A node cannot use the permits of others, so each needs room for its own.
   */
  double divided() {
    return countOfRoots == 0 ? 0 : Math.max(0, nodes * roots / countOfRoots - Math.sqrt(mean));
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
   * numbers around the mean number are returned so often that their mean is that number.
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
