package io.throttlekit.limit;

/**
 * The state of a {@link ProbedVegasLimit}:
 *
 * <pre>
 * Steady    ── a measurement is due ──────────▸ Probing
 * Probing   ── over, limiters acknowledge ────▸ Restoring
 * Probing   ── over, limiter of this process ─▸ Steady
 * Restoring ── half an interval has passed ───▸ Steady
 * Restoring ── a measurement is due ──────────▸ Probing
 * </pre>
 *
 * <p>Not thread-safe.
 */
sealed interface ProbedVegasState
    permits Probing, ProbedVegasState.Restoring, ProbedVegasState.Steady {

  /** The limit changes once per window. */
  record Steady() implements ProbedVegasState {}

  /**
   * Limiters raise the limit again after a measurement. A request that began during it met no
   * queue, and would raise the limit by the room that the measurement itself made.
   */
  final class Restoring implements ProbedVegasState {
    private final int lowered;
    private final long beganNanos;
    private final long maxNanos;
    private boolean restored;
    private long restoredNanos;

    /**
     * Creates the state at the end of a measurement.
     *
     * @param lowered limit at the end of the measurement
     * @param nowNanos monotonic
     * @param maxNanos how long this state lasts
     */
    Restoring(int lowered, long nowNanos, long maxNanos) {
      this.lowered = lowered;
      this.beganNanos = nowNanos;
      this.maxNanos = maxNanos;
      this.restoredNanos = nowNanos;
    }

    /**
     * Reports the limit that limiters have acknowledged. Half of the decrease must be undone.
     *
     * @param limit current limit
     */
    void acknowledged(double limit, int requests, long sinceNanos) {
      int enough = Math.min((int) limit, (lowered + (int) limit) / 2);
      if (!restored && (limit <= lowered || requests >= enough)) {
        restored = true;
        restoredNanos = sinceNanos;
      }
    }

    /** Returns whether this state is over, whatever acknowledgements and start times are. */
    boolean isOver(long nowNanos) {
      return nowNanos - beganNanos >= maxNanos;
    }

    /** Returns whether a request began during the measurement, and does not count. */
    boolean ignores(Sample sample) {
      return !restored || sample.startNanos() - restoredNanos < 0;
    }
  }
}
