package io.throttlekit.limit;

/**
 * The state of a {@link ProbedVegasLimit}:
 *
 * <pre>
 * Steady    ── a measurement is due ──────────▸ Probing
 * Probing   ── over, limiters acknowledge ────▸ Restoring
 * Probing   ── over, limiter of this process ─▸ Steady
 * Restoring ── half an interval has passed ───▸ Steady
 * Restoring ── decreases do not help ─────────▸ Probing
 * </pre>
 *
 * <p>Not thread-safe.
 */
sealed interface ProbedVegasState
    permits Probing, ProbedVegasState.Restoring, ProbedVegasState.Steady {

  /** The limit changes once per window. */
  final class Steady implements ProbedVegasState {
    /** Decreases in a row without effect after which the baseline is measured again. */
    private static final int MAX_DECREASES = 5;

    /** The relative decrease of the limit from which latency shows whether it helps. */
    private static final double NOTICEABLE = 0.1;

    /** The share of a decrease that latency must follow for it to have helped. */
    private static final double FOLLOWS = 0.5;

    /** Decreases after which latency is compared if they were large. */
    private static final int FEW_DECREASES = 3;

    /** The relative decrease that is large. */
    private static final double LARGE = 0.3;

    final Ascent ascent = new Ascent();
    private int decreases;
    private double decreasedFrom;
    private double decreasedAt;
    private boolean probeScheduled;
    private long probeNanos;
    private boolean probeIgnored;

    /** Creates the initial state: a measurement is due in the first saturated window. */
    Steady() {}

    /**
     * Creates the state after a measurement.
     *
     * @param probeNanos when the next measurement is due, monotonic
     * @param probeIgnored whether no limiter acknowledged the last one
     */
    Steady(long probeNanos, boolean probeIgnored) {
      this.probeScheduled = true;
      this.probeNanos = probeNanos;
      this.probeIgnored = probeIgnored;
    }

    /**
     * Records an acknowledgement.
     *
     * @param current whether it is of the current limit; the next measurement need not wait longer
     *     then
     */
    void acknowledged(boolean current) {
      probeIgnored &= !current;
    }

    /**
     * Records a step.
     *
     * @param applied limit below which the requests of the window began
     * @param latency mean of the window, in ns
     */
    void stepped(QueueStep step, double applied, double latency) {
      if (!step.decreased()) {
        decreases = 0;
      } else if (decreases++ == 0) {
        decreasedFrom = applied;
        decreasedAt = latency;
      }
    }

    /** Postpones the next measurement, if it is earlier. */
    void postponeProbe(long nanos) {
      if (!probeScheduled || nanos - probeNanos > 0) {
        probeScheduled = true;
        probeNanos = nanos;
      }
    }

    /** Returns whether a measurement is due in a saturated window. */
    boolean isProbeDue(long nowNanos) {
      return !probeScheduled || nowNanos - probeNanos >= 0;
    }

    /**
     * Returns whether latency does not follow the limit down; then it is probably not a queue.
     *
     * @param applied limit below which the requests of the window began
     * @param latency mean of the window, in ns
     * @param fewRequests whether that is of so few requests that it may be chance
     */
    boolean doubts(double applied, double latency, boolean fewRequests) {
      // A decrease that is not in effect yet cannot have helped.
      double lowered = 1 - applied / decreasedFrom;
      boolean many = decreases >= MAX_DECREASES && lowered >= NOTICEABLE;
      boolean large = decreases >= FEW_DECREASES && lowered >= LARGE;
      if (fewRequests ? !(many && large) : !(many || large)) {
        return false;
      }
      if (decreasedAt - latency < FOLLOWS * lowered * decreasedAt) {
        return !probeIgnored; // limiters that do not apply a lower limit cannot reduce latency
      }
      decreases = 0;
      return false;
    }
  }

  /**
   * Limiters raise the limit again after a measurement. A request that began during it met no
   * queue, and would raise the limit by the room that the measurement itself made.
   */
  final class Restoring implements ProbedVegasState {
    final Steady next;
    private final int lowered;
    private final long beganNanos;
    private final long maxNanos;
    private boolean restored;
    private long restoredNanos;

    /**
     * Creates the state at the end of a measurement.
     *
     * @param next follows this one
     * @param lowered limit at the end of the measurement
     * @param nowNanos monotonic
     * @param maxNanos how long this state lasts
     */
    Restoring(Steady next, int lowered, long nowNanos, long maxNanos) {
      this.next = next;
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
