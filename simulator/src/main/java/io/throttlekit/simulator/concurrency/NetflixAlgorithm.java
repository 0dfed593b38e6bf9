package io.throttlekit.simulator.concurrency;

import com.netflix.concurrency.limits.Limit;
import io.throttlekit.concurrency.Sample;

/**
 * An algorithm from Netflix's concurrency-limits library, unmodified. None of them reads a clock:
 * windows follow the times of the samples. {@code VegasLimit} uses the random numbers of the
 * thread, so its results differ slightly from run to run.
 *
 * @param limit receives every request that has ended
 */
record NetflixAlgorithm(Limit limit) implements SimulatedAlgorithm {

  @Override
  public int ceiling() {
    return limit.getLimit();
  }

  @Override
  public void learn(Sample sample) {
    long started = sample.arrivedNanos() - sample.rttNanos();
    limit.onSample(started, sample.rttNanos(), sample.inFlight(), sample.dropped());
  }
}
