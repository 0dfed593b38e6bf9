package io.throttlekit.simulator.concurrency;

/** How a run of the sweep reaches its load, which lasts for five minutes. */
enum SweepStart {
  /** After a minute at half of the capacity. */
  CALM("calm", 60),
  /** From the first request on. */
  AT_ONCE("at once", 0),
  /** From half of the capacity, evenly over ten minutes. */
  CREEPING("creeping", 600);

  private static final double HALF = 0.5;
  private static final int LASTING = 300;
  private static final int STEP = 10; // seconds of constant load while it creeps

  private final String title;
  private final int reached;

  SweepStart(String title, int reached) {
    this.title = title;
    this.reached = reached;
  }

  /** Returns the name in tables. */
  String title() {
    return title;
  }

  /** Returns the second in which the load has been reached. */
  int reached() {
    return reached;
  }

  /** Returns the plan of a run. */
  Plan plan(SweepBackend backend, double load) {
    Plan plan = Plan.empty().under(backend.conditions());
    if (this == CALM) {
      plan = plan.then(backend.phase(reached, HALF));
    } else if (this == CREEPING) {
      for (int at = 0; at < reached; at += STEP) {
        plan = plan.then(backend.phase(STEP, HALF + (load - HALF) * at / reached));
      }
    }
    return plan.then(backend.phase(LASTING, load));
  }
}
