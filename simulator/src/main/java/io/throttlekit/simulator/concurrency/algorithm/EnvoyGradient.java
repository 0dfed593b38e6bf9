package io.throttlekit.simulator.concurrency.algorithm;

import io.throttlekit.limit.Sample;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * A model of the gradient controller of Envoy's adaptive_concurrency filter, by its documentation:
 * the ratio of the minimum round trip time, measured as a median under a very low limit, to the
 * current median.
 *
 * <p>Timers are checked when a sample arrives. The settings are those of the documentation's
 * example and the defaults: updates every 100 ms, a measurement every 60 s plus up to 15 % jitter,
 * with 50 requests at a limit of 3, and a buffer of a quarter.
 */
public final class EnvoyGradient implements SimulatedAlgorithm {
  private static final long UPDATE = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long PROBE = TimeUnit.SECONDS.toNanos(60);
  private static final double JITTER = 0.15;
  private static final int PROBED = 50;
  private static final int MIN = 3;
  private static final int MAX = 1_000;
  private static final double BUFFER = 1.25;
  private static final int AT_MIN = 5; // updates at the minimum before a new measurement

  private final DoubleSupplier uniform;
  private long[] rtts = new long[1 << 10];
  private int size;
  private int limit = MIN;
  private int deferred = MIN;
  private boolean probing = true;
  private long probeSince;
  private long nextProbe;
  private long nextUpdate = UPDATE;
  private double leastRtt;
  private int updatesAtMin;

  /**
   * Creates the model in its initial state.
   *
   * @param uniform random numbers from 0 to less than 1, for the jitter
   */
  public EnvoyGradient(DoubleSupplier uniform) {
    this.uniform = uniform;
  }

  @Override
  public int limit() {
    return limit;
  }

  @Override
  public boolean isProbing() {
    return probing;
  }

  @Override
  public void acknowledged(int requests, long sinceNanos) {
    if (probing && size == 0 && requests == limit) {
      probeSince = sinceNanos;
    }
  }

  @Override
  public void learn(Sample sample) {
    long now = sample.arrivedNanos();
    if (probing && sample.startNanos() < probeSince) {
      return;
    }
    if (!sample.dropped()) { // a reset stream yields no sample
      add(sample.rttNanos());
    }
    if (probing) {
      probe(now);
    } else if (now >= nextProbe) {
      beginProbe(now);
    } else if (now >= nextUpdate) {
      nextUpdate = now + UPDATE;
      update(now);
    }
  }

  private void probe(long now) {
    if (size < PROBED) {
      return;
    }
    leastRtt = median();
    probing = false;
    limit = deferred;
    nextProbe = now + (long) (PROBE * (1 + JITTER * uniform.getAsDouble()));
    nextUpdate = now + UPDATE;
  }

  private void update(long now) {
    if (size == 0) {
      return;
    }
    double gradient = Math.clamp(leastRtt * BUFFER / median(), 0.5, 2.0);
    double scaled = limit * gradient;
    limit = Math.clamp((long) (scaled + Math.sqrt(scaled)), MIN, MAX);
    updatesAtMin = limit == MIN ? updatesAtMin + 1 : 0;
    if (updatesAtMin == AT_MIN) {
      beginProbe(now);
    }
  }

  private void beginProbe(long now) {
    updatesAtMin = 0;
    probing = true;
    deferred = limit;
    limit = MIN;
    probeSince = now;
    size = 0;
  }

  private double median() {
    Arrays.sort(rtts, 0, size);
    double median = (rtts[(size - 1) / 2] + rtts[size / 2]) / 2.0;
    size = 0;
    return median;
  }

  private void add(long rtt) {
    if (size == rtts.length) {
      rtts = Arrays.copyOf(rtts, 2 * size);
    }
    rtts[size++] = rtt;
  }
}
