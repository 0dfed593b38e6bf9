package io.throttlekit.limit;

import io.throttlekit.limit.stats.FadingRegression;
import io.throttlekit.limit.stats.SlicedRegression;
import io.throttlekit.limit.stats.Slope;

/**
 * How latency responds to the requests in flight, as an elasticity: behind a queue latency rises as
 * much as they do (1), without one it stays the same (0). The estimate has two sources, each
 * weighted by its precision: single requests within a few latencies, and the windows in which the
 * limit was full. Not thread-safe.
 */
final class LatencyResponse {
  // Found by experiment: docs/CONCURRENCY.md has the simulator's results.

  /** The share of earlier evidence that a window leaves. */
  private static final double KEPT = 0.7;

  /** The variance of the logarithm of a window's latency by chance. */
  private static final double CHANCE = 0.01;

  /** The greatest precision of one source: models are wrong, however many samples. */
  private static final double MAX_PRECISION = 20;

  /** The elasticity from which requests queue. */
  private static final double QUEUE = 0.4;

  /** Standard errors below {@link #QUEUE} from which they certainly do not. */
  private static final double ERRORS = 1.5;

  /** How much longer than without a queue latency is when its response counts in full. */
  private static final double STRETCHED = 0.25;

  /** Latencies in a slice: a response takes one, and the load changes in many. */
  private static final int SLICE_LATENCIES = 3;

  /** The multiple of the mean latency that counts at most. */
  private static final double MAX_LATENCY = 4;

  private static final double MIN_ELASTICITY = -1;
  private static final double MAX_ELASTICITY = 2;

  private final SlicedRegression requests = new SlicedRegression();
  private final FadingRegression windows = new FadingRegression(KEPT, CHANCE);
  private Slope nodes = Slope.UNKNOWN;
  private int nodeCount;
  private double latency;

  /** Elasticities of each source. */
  private Slope ofRequests = Slope.UNKNOWN;

  private Slope ofWindows = Slope.UNKNOWN;

  /** Adds a request with a latency. Requests of the first window do not count. */
  void add(Sample sample) {
    if (latency > 0) {
      double capped = Math.min((double) sample.rttNanos(), MAX_LATENCY * latency);
      requests.add(sample.startNanos(), sample.inFlight(), capped);
    }
  }

  /** Adds by how much latency rose with each request in flight at a node. */
  void add(Slope slope) {
    nodes = nodes.and(slope);
    nodeCount++;
  }

  /** Returns the length of slices for a latency, in ns. */
  static long slice(double latencyNanos) {
    return Math.max(1, (long) (SLICE_LATENCIES * latencyNanos));
  }

  /**
   * Ends a window.
   *
   * @param meanInFlight mean of the requests in flight when requests of the window began, from 1
   * @param meanNanos mean latency of the requests, above 0
   * @param baselineNanos latency without a queue, above 0
   * @param saturated whether the limit refused requests
   */
  void next(double meanInFlight, double meanNanos, double baselineNanos, boolean saturated) {
    double stretched = Math.clamp((meanNanos / baselineNanos - 1) / STRETCHED, 0, 1);
    double scale = meanInFlight / meanNanos;
    Slope slope = requests.take(slice(meanNanos)).and(takeNodes());
    Slope seen = new Slope(slope.value() * scale, slope.precision() / (scale * scale));
    ofRequests = ofRequests.times(KEPT).and(seen.atMost(MAX_PRECISION).times(stretched));
    if (saturated) {
      windows.add(Math.log(meanInFlight), Math.log(meanNanos));
    } else {
      windows.reset();
    }
    Slope trend = windows.slope();
    double elasticity = Math.clamp(trend.value(), MIN_ELASTICITY, MAX_ELASTICITY);
    ofWindows = new Slope(elasticity, trend.precision()).atMost(MAX_PRECISION).times(stretched);
    latency = meanNanos;
  }

  /** Skips a window: the next one is not compared with earlier ones. */
  void skip() {
    windows.reset();
    ofWindows = Slope.UNKNOWN;
    var _ = requests.take(slice(latency));
    var _ = takeNodes();
  }

  /** Returns the elasticity, from 0 to 1; 0 without evidence. */
  double follows() {
    return Math.clamp(elasticity().value(), 0, 1);
  }

  /** Returns whether latency responds as behind a queue. */
  boolean isQueue() {
    return elasticity().value() >= QUEUE;
  }

  /** Returns whether latency certainly does not respond as behind a queue. */
  boolean isNoQueue() {
    Slope elasticity = elasticity();
    return elasticity.value() + ERRORS / Math.sqrt(elasticity.precision()) < QUEUE;
  }

  private Slope elasticity() {
    return ofRequests.and(ofWindows);
  }

  /**
   * Takes the slopes of the nodes, with their mean precision: what disturbs latencies at one node
   * disturbs the latencies at all nodes at the same time.
   */
  private Slope takeNodes() {
    Slope taken = nodes.times(1.0 / Math.max(1, nodeCount));
    nodes = Slope.UNKNOWN;
    nodeCount = 0;
    return taken;
  }
}
