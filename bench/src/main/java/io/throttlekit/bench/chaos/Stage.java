package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;
import java.util.concurrent.atomic.LongAdder;

/**
 * Where faults happen.
 *
 * @param floodedKeys distinct keys that a flood has had answered
 */
record Stage(ChaosFleet fleet, Load load, LongAdder floodedKeys) {

  /** Notes that a process is stopped or ended on purpose. */
  void absent(int process) {
    load.outcomes().absent(process);
  }

  /** Notes that a process is to answer again. */
  void running(int process) {
    load.outcomes().running(process, TimeSource.system().monotonicNanos());
  }
}
