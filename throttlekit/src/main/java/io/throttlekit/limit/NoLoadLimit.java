package io.throttlekit.limit;

/**
 * A limit that moves with the ratio of latency to the latency without load, and is lowered while
 * that is measured.
 */
abstract sealed class NoLoadLimit implements ConcurrencyLimit permits AimdLimit, Gradient2Limit {
  final LimitRange range;
  final NoLoadLatency noLoad;
  double estimate;
  private volatile int limit;

  NoLoadLimit(LimitRange range, NoLoadLatency noLoad) {
    this.range = range;
    this.noLoad = noLoad;
    this.estimate = range.initial();
    this.limit = range.initial();
  }

  /** Moves the estimate after a request, or after the window that it completes. */
  abstract void move(Sample seen);

  @Override
  public final int limit() {
    return limit;
  }

  @Override
  public final void learn(Sample sample) {
    Sample seen = noLoad.learn(sample);
    // a sample that is neither dropped nor measured reveals nothing
    if (seen != null && (seen.dropped() || seen.rttNanos() > 0)) {
      move(seen);
    }
    limit = noLoad.lowered((int) estimate);
  }

  @Override
  public final void onTick(long nowNanos) {
    noLoad.onTick(nowNanos);
    limit = noLoad.lowered((int) estimate);
  }

  @Override
  public final boolean isProbing() {
    return noLoad.probing();
  }
}
