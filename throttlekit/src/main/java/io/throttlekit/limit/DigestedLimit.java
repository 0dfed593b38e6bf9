package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;
import io.throttlekit.limit.stats.SlicedRegression;
import io.throttlekit.limit.stats.Slope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A limit of one node of a fleet, which counts its samples for the others. An algorithm of this
 * node computes the limit; without one, the limit of the fleet is published to the node.
 *
 * <p>Thread-safe.
 */
public final class DigestedLimit implements ConcurrencyLimit {
  /**
   * How long a peak counts, in slices. A heartbeat may follow the last one after a tenth of a
   * second, and the peak of so short a time would understate what the node needs.
   */
  private static final int PEAK_SLICES = 10;

  private static final long SLICE_NANOS = 100_000_000;

  private final IntSupplier share;

  /** Of this node, or null. Written under the lock of this. */
  private volatile @Nullable ConcurrencyLimit local;

  private volatile int fleetLimit;

  // Guarded by this.
  private IntFunction<ConcurrencyLimit> algorithms;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private final SlicedRegression latencyByInFlight = new SlicedRegression();

  /** Fades over many digests. */
  private final ArrivalDispersion dispersion = new ArrivalDispersion();

  /** The most in flight in each of the last slices of time, in a ring. */
  private final int[] peaks = new int[PEAK_SLICES];

  private int newest;
  private long sliceNanos;
  private boolean peaksBegun;
  private long dropped;
  private long refused;
  private boolean full;
  private final LoadShift shift = new LoadShift();

  /** Whether a shift was noticed and not taken. Written under the lock of this. */
  private volatile boolean shifted;

  private DigestedLimit(
      @Nullable ConcurrencyLimit local,
      IntFunction<ConcurrencyLimit> algorithms,
      IntSupplier share,
      int fleetLimit) {
    this.local = local;
    this.algorithms = algorithms;
    this.share = share;
    this.fleetLimit = fleetLimit;
  }

  /**
   * Returns the limit of an algorithm of this node. It learns from a share of the limit as it would
   * from the whole: a share that is used up is a limit that is used up.
   *
   * @param algorithms creates an algorithm that starts at a limit; only this object calls it
   * @param initial where the first one starts, from 1
   * @param share supplies the node's part of the limit, from 0
   */
  public static DigestedLimit ofNode(
      IntFunction<ConcurrencyLimit> algorithms, int initial, IntSupplier share) {
    return new DigestedLimit(algorithms.apply(initial), algorithms, share, initial);
  }

  /**
   * Returns a limit that follows {@link #publish}.
   *
   * @param initial before the first one, from 1
   */
  public static DigestedLimit ofFleet(int initial) {
    return new DigestedLimit(
        null,
        _ -> {
          throw new IllegalStateException("the limit is that of the fleet");
        },
        () -> 0,
        initial);
  }

  /**
   * Sets the limit of the fleet, which counts where this node has no algorithm of its own.
   *
   * @param sampled whether this node has had samples lately. If not, its algorithm starts again at
   *     the limit of the fleet: what it inferred before holds no longer
   */
  public synchronized void publish(int requests, boolean sampled) {
    fleetLimit = requests;
    ConcurrencyLimit own = local;
    if (own != null && !sampled && own.limit() != requests) {
      local = algorithms.apply(requests);
    }
  }

  /** Replaces what creates the algorithm of this node, which starts at its current limit. */
  public synchronized void replace(IntFunction<ConcurrencyLimit> others) {
    ConcurrencyLimit own = local;
    if (own != null) {
      algorithms = others;
      local = others.apply(own.limit());
    }
  }

  @Override
  public int limit() {
    ConcurrencyLimit own = local;
    return own == null ? fleetLimit : own.limit();
  }

  @Override
  public int max() {
    ConcurrencyLimit own = local;
    return own == null ? Integer.MAX_VALUE : own.max();
  }

  @Override
  public int restingInFlight() {
    ConcurrencyLimit own = local;
    return own == null ? ConcurrencyLimit.super.restingInFlight() : own.restingInFlight();
  }

  @Override
  public synchronized void learn(Sample sample) {
    if (sample.dropped()) {
      dropped++;
    } else if (sample.rttNanos() > 0) {
      latencies.add(sample.rttNanos());
      latencyByInFlight.add(sample.startNanos(), sample.inFlight(), (double) sample.rttNanos());
      shifted |= shift.ended(sample.rttNanos(), sample.arrivedNanos());
    }
    dispersion.began(sample);
    addPeak(sample.arrivedNanos(), sample.inFlight());
    full |= sample.full();
    ConcurrencyLimit own = local;
    if (own != null) {
      own.learn(scaled(sample, own.limit()));
    }
  }

  /** Returns the sample with as much of the limit in flight as it is of the share. */
  private Sample scaled(Sample sample, int limit) {
    long part = Math.max(1, share.getAsInt());
    if (part >= limit) {
      return sample;
    }
    long inFlight = Math.min(limit, (sample.inFlight() * (long) limit + part - 1) / part);
    return new Sample(
        sample.startNanos(),
        sample.rttNanos(),
        sample.arrivedNanos(),
        (int) inFlight,
        sample.full(),
        sample.dropped());
  }

  @Override
  public synchronized void refused(long arrivedNanos, long requests) {
    refused = Math.max(refused, refused + requests); // saturates on overflow
    shifted |= shift.refused(requests, arrivedNanos);
    ConcurrencyLimit own = local;
    if (own != null) {
      own.refused(arrivedNanos, requests);
    }
  }

  @Override
  public synchronized void acknowledged(int requests, long sinceNanos) {
    ConcurrencyLimit own = local;
    if (own != null) {
      own.acknowledged(requests, sinceNanos);
    }
  }

  @Override
  public synchronized void onTick(long nowNanos) {
    ConcurrencyLimit own = local;
    if (own != null) {
      own.onTick(nowNanos);
    }
  }

  @Override
  public boolean isProbing() {
    ConcurrencyLimit own = local;
    return own != null && own.isProbing();
  }

  /**
   * Returns the samples since the last call, or null if there were none. The most in flight is that
   * of the second before the last sample.
   */
  public synchronized @Nullable SampleDigest take() {
    int count = latencies.count();
    if (count == 0 && dropped == 0 && refused == 0) {
      return null;
    }
    int parts = Math.min(count, SampleDigest.MAX_LATENCIES);
    List<Long> quantiles = new ArrayList<>(parts);
    for (int i = 0; i < parts; i++) {
      quantiles.add((long) latencies.quantile((i + 0.5) / parts));
    }
    int inFlight = Arrays.stream(peaks).max().orElse(0);
    SampleDigest digest =
        new SampleDigest(count, dropped, refused, inFlight, full, takeStatistics(), quantiles);
    latencies.reset();
    dropped = 0;
    refused = 0;
    full = false;
    return digest;
  }

  /** Returns the statistics of a digest, before its latencies are reset. */
  private RequestStatistics takeStatistics() {
    if (latencies.count() == 0) {
      return RequestStatistics.of(Slope.UNKNOWN, dispersion.value());
    }
    double median = latencies.quantile(0.5);
    dispersion.next(median, refused > 0);
    return RequestStatistics.of(
        latencyByInFlight.take(LatencyResponse.slice(median)), dispersion.value());
  }

  /**
   * Returns whether this node has begun to refuse many requests since the last call, or its latency
   * has changed at once while it refused some. Never where it has an algorithm of its own, which
   * starts again when a heartbeat follows so soon that it has no samples.
   */
  public boolean takeShift() {
    if (!shifted) { // without the lock: called for each request
      return false;
    }
    synchronized (this) {
      boolean was = shifted;
      shifted = false;
      return was && local == null;
    }
  }

  private void addPeak(long nowNanos, int requests) {
    long passed = peaksBegun ? Math.max(0, nowNanos - sliceNanos) / SLICE_NANOS : PEAK_SLICES;
    for (long i = 0; i < Math.min(passed, PEAK_SLICES); i++) {
      newest = (newest + 1) % PEAK_SLICES;
      peaks[newest] = 0;
    }
    sliceNanos = peaksBegun ? sliceNanos + passed * SLICE_NANOS : nowNanos;
    peaksBegun = true;
    peaks[newest] = Math.max(peaks[newest], requests);
  }
}
