package io.throttlekit.simulator.concurrency;

import com.netflix.concurrency.limits.Limit;
import io.throttlekit.concurrency.Sample;

/**
 * A law of Netflix's concurrency-limits, as its own jar has it. None of them reads a clock: a
 * window begins and ends by the times that they are told. {@code VegasLimit} draws when to probe
 * from the thread's own random numbers, so what becomes of it differs a little from run to run.
 *
 * @param limit is told of every request that has ended
 */
record NetflixLaw(Limit limit) implements Law {

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
