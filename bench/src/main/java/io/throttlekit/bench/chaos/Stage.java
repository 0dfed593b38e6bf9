package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * Where faults happen.
 *
 * @param lost units that processes count as lost
 * @param floodedKeys distinct keys that a flood has had answered
 * @param problems what is wrong for certain, in words
 */
record Stage(
    ChaosFleet fleet, Load load, LostUnits lost, LongAdder floodedKeys, List<String> problems) {

  /** Without a problem yet. */
  static Stage of(ChaosFleet fleet, Load load) {
    return new Stage(
        fleet, load, new LostUnits(fleet), new LongAdder(), new CopyOnWriteArrayList<>());
  }

  /** Notes a process that is not there, though nothing has ended it. */
  void expectAlive(int process) {
    fleet
        .node(process)
        .ifEnded(log -> {
          problems.add("process " + process + " ended by itself: " + log);
        });
  }

  /** Notes that a process is stopped or about to be ended on purpose. */
  void absent(int process) {
    load.outcomes().absent(process);
  }

  /** Notes that a process is to answer again. */
  void running(int process) {
    load.outcomes().running(process, TimeSource.system().monotonicNanos());
  }
}
