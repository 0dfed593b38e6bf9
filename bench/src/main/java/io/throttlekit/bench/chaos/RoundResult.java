package io.throttlekit.bench.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What came of a round.
 *
 * @param kind of its coordinator
 * @param overshoot units beyond what each counter may have, by its key and region; only those that
 *     have any
 * @param problems what else is wrong, in words: what hangs, ended by itself, or was not answered
 * @param utilization of the limit that regions share, over all whole windows
 * @param quietWindows units of each window in which nothing went wrong
 * @param requests that were sent
 * @param failures those that were neither admitted nor refused, by status
 * @param unanswered those of them that a process which was running did not answer in five seconds
 * @param lost units that processes count as lost
 * @param floodedKeys distinct keys of floods
 */
record RoundResult(
    CoordinatorKind kind,
    List<Happened> happened,
    Map<String, Long> overshoot,
    List<String> problems,
    double utilization,
    List<Long> quietWindows,
    long requests,
    Map<String, Long> failures,
    long unanswered,
    long lost,
    long floodedKeys) {

  static RoundResult of(
      ChaosFleet fleet,
      Load load,
      List<Happened> happened,
      List<String> problems,
      List<QuietTime> quiet,
      long fromMillis,
      long toMillis,
      double lost,
      long floodedKeys) {
    List<String> wrong = new ArrayList<>(problems);
    if (load.outcomes().underWay() > 0) {
      wrong.add(load.outcomes().underWay() + " requests never ended");
    }
    Map<String, Long> overshoot = new TreeMap<>();
    for (AdmittedUnits each : load.admitted()) {
      overshoot.putAll(each.overshoot(fleet.losses()));
    }
    AdmittedUnits shared = load.admitted().getFirst();
    List<Long> quietWindows = new ArrayList<>();
    for (QuietTime time : quiet) {
      quietWindows.addAll(time.windows(shared.windows(), shared.counter().windowMillis()));
    }
    return new RoundResult(
        fleet.kind(),
        happened,
        overshoot,
        wrong,
        shared.utilization(fromMillis, toMillis),
        quietWindows,
        load.outcomes().requests(),
        load.outcomes().failures(),
        load.outcomes().unanswered(),
        Math.round(lost),
        floodedKeys);
  }

  long overshootUnits() {
    return overshoot.values().stream().mapToLong(Long::longValue).sum();
  }

  long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum();
  }

  /** A row of a Markdown table. */
  String row() {
    return "| %s | %d | %s | %.3f | %d | %d (%.2f %%) %s | %d | %d | %d |"
        .formatted(
            kind.words(),
            happened.size(),
            overshoot.isEmpty() ? "0" : overshoot.toString(),
            utilization,
            requests,
            failed(),
            100.0 * failed() / Math.max(1, requests),
            failures,
            unanswered,
            lost,
            floodedKeys);
  }
}
