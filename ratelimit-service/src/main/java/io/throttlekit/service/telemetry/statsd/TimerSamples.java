package io.throttlekit.service.telemetry.statsd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;

/**
 * A uniform sample of measured times between two transfers, by reservoir sampling (Vitter's
 * algorithm R). Thread-safe and lock-free; a time that is measured during a transfer may be missed.
 */
final class TimerSamples implements LongConsumer {

  /** Bounds memory and the size of a transfer. */
  static final int MAX_SAMPLES = 1_000;

  private final AtomicLong measured = new AtomicLong();
  private final AtomicLongArray kept = new AtomicLongArray(MAX_SAMPLES);
  private final LongUnaryOperator random;

  /**
   * The times since the last batch.
   *
   * @param measured how many there were
   * @param nanos a sample of them
   */
  record Batch(long measured, List<Long> nanos) {

    /** Returns the fraction of the times that are in the sample. */
    double rate() {
      return measured == 0 ? 1 : (double) nanos.size() / measured;
    }
  }

  /**
   * Creates an empty sample.
   *
   * @param random returns a number from 0 below its argument
   */
  TimerSamples(LongUnaryOperator random) {
    this.random = random;
  }

  @Override
  public void accept(long nanos) {
    long before = measured.getAndIncrement();
    long place = before < MAX_SAMPLES ? before : random.applyAsLong(before + 1);
    if (place < MAX_SAMPLES) {
      kept.set((int) place, nanos);
    }
  }

  /** Returns the sample, and begins a new one. */
  Batch take() {
    long count = measured.getAndSet(0);
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < Math.min(count, MAX_SAMPLES); i++) {
      nanos.add(kept.get(i));
    }
    return new Batch(count, nanos);
  }
}
