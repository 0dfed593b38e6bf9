package io.throttlekit.simulator.concurrency.algorithm;

import com.netflix.concurrency.limits.Limit;
import io.throttlekit.limit.Sample;

/**
 * An algorithm from Netflix's concurrency-limits library, unmodified. None of them reads a clock:
 * windows follow the times of the samples. {@code VegasLimit} uses the random numbers of the
 * thread, so its results differ slightly from run to run.
 *
 * @param netflix receives every request that has ended
 */
public record NetflixAlgorithm(Limit netflix) implements SimulatedAlgorithm {

  @Override
  public int limit() {
    return netflix.getLimit();
  }

  @Override
  public void learn(Sample sample) {
    long started = sample.arrivedNanos() - sample.rttNanos();
    netflix.onSample(started, sample.rttNanos(), sample.inFlight(), sample.dropped());
  }
}
