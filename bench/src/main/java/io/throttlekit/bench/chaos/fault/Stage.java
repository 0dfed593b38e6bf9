package io.throttlekit.bench.chaos.fault;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.LostUnits;
import io.throttlekit.bench.chaos.traffic.Load;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * Fleet, load and results that faults act on.
 *
 * @param lost units that processes count as lost
 * @param floodedKeys distinct keys of a flood that were answered
 * @param problems descriptions of certain errors
 */
public record Stage(
    ChaosFleet fleet, Load load, LostUnits lost, LongAdder floodedKeys, List<String> problems) {

  /** Creates a stage without problems. */
  public static Stage of(ChaosFleet fleet, Load load) {
    return new Stage(
        fleet, load, new LostUnits(fleet), new LongAdder(), new CopyOnWriteArrayList<>());
  }

  /** Reports a process that has ended without a fault. */
  public void expectAlive(int process) {
    fleet
        .node(process)
        .ifEnded(log -> {
          problems.add("process " + process + " ended by itself: " + log);
        });
  }

  /** Records that a process is stopped or about to be ended on purpose. */
  void absent(int process) {
    load.outcomes().absent(process);
  }

  /** Records that a process has to answer again. */
  void running(int process) {
    load.outcomes().running(process, TimeSource.system().monotonicNanos());
  }
}
