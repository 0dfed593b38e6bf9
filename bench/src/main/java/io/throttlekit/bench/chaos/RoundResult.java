package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fault.Stage;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.traffic.AdmittedUnits;
import io.throttlekit.bench.chaos.traffic.Load;
import io.throttlekit.bench.chaos.traffic.RequestFigures;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Result of a round.
 *
 * @param kind of its coordinator
 * @param overshoot units beyond the limit of each counter, by its key and region; only those that
 *     have any
 * @param problems descriptions of other errors: processes that hang, ended by themselves, or did
 *     not answer
 * @param utilization of the limit that regions share, over all whole windows
 * @param quietWindows units of each window without faults
 * @param requests outcomes of requests
 * @param lost units that processes count as lost, including those lost without a fault
 * @param floodedKeys distinct keys of floods that were answered
 * @param others share of the machine's processors that other programs used, from 0 to 1; not a
 *     number where that is not known
 */
record RoundResult(
    CoordinatorKind kind,
    List<FaultResult> happened,
    Map<String, Long> overshoot,
    List<String> problems,
    double utilization,
    List<Long> quietWindows,
    RequestFigures requests,
    long lost,
    long floodedKeys,
    double others) {
  /** Use by others above which processes may fail to answer for lack of processor time. */
  private static final double MAX_OTHERS = .15;

  /** Copies the collections. */
  RoundResult {
    happened = List.copyOf(happened);
    overshoot = new TreeMap<>(overshoot);
    problems = problems(problems, quietWindows, requests, isJudged(others));
    quietWindows = List.copyOf(quietWindows);
  }

  private static boolean isJudged(double others) {
    return others <= MAX_OTHERS; // false where it is not a number
  }

  private static List<String> problems(
      List<String> problems, List<Long> quietWindows, RequestFigures requests, boolean judged) {
    List<String> all = new ArrayList<>(problems);
    if (!judged) {
      return List.copyOf(all);
    }
    long empty = quietWindows.stream().filter(units -> units == 0).count();
    if (empty > 0) {
      all.add("nothing was admitted in " + empty + " windows without faults");
    }
    if (requests.unanswered() > 0) {
      all.add(
          requests.unanswered()
              + " requests to running processes were not answered in "
              + Load.ANSWER_SECONDS
              + " s");
    }
    return List.copyOf(all);
  }

  static RoundResult of(
      ChaosFleet fleet,
      Stage stage,
      List<FaultResult> happened,
      List<String> problems,
      List<QuietTime> quiet,
      long fromMillis,
      long toMillis,
      long lost,
      double others) {
    Load load = stage.load();
    List<String> wrong = new ArrayList<>(problems);
    if (load.outcomes().underWay() > 0) {
      wrong.add(load.outcomes().underWay() + " requests never ended");
    }
    load.reportFailure(wrong);
    AdmittedUnits shared = load.admitted().shared();
    List<Long> quietWindows = new ArrayList<>();
    for (QuietTime time : quiet) {
      quietWindows.addAll(time.windows(shared.windows(), shared.counter().windowMillis()));
    }
    return new RoundResult(
        fleet.kind(),
        happened,
        load.admitted().overshoot(fleet.losses(), Long.MIN_VALUE),
        wrong,
        shared.utilization(fromMillis, toMillis),
        quietWindows,
        load.outcomes().figures(),
        lost,
        stage.floodedKeys().sum(),
        others);
  }

  /** Returns the units of each window without faults that this round was checked by. */
  List<Long> judgedWindows() {
    return isJudged(others) ? quietWindows : List.of();
  }

  /** Returns why no window without faults could be checked; empty where one was. */
  List<String> unjudged() {
    if (!judgedWindows().isEmpty()) {
      return List.of();
    }
    String why =
        isJudged(others)
            ? "the load generator did not run in time"
            : Double.isNaN(others)
                ? "the use of the processors by others could not be sampled"
                : "others used %.0f %% of the processors".formatted(100 * others);
    return List.of("no window without faults could be judged: " + why);
  }

  long overshootUnits() {
    return overshoot.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the units that were lost during and after a fault of machines, by its kind. */
  Map<String, Long> lostByFault() {
    Map<String, Long> byKind = new TreeMap<>();
    for (FaultResult each : happened) {
      if (each.lost() != 0) {
        byKind.merge(each.fault().kind(), each.lost(), Long::sum);
      }
    }
    return byKind;
  }

  /** Returns the units that were lost in times without a fault of machines. */
  long lostWithoutFault() {
    return lost - lostByFault().values().stream().mapToLong(Long::longValue).sum();
  }

  static String head() {
    return "| coordinator | faults | admitted beyond the limit | utilization | requests | failed |"
        + " not sent | unanswered | lost units in faults | lost units else | keys of floods |"
        + " processors used by others |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  }

  /** Returns a row of a Markdown table. */
  String row() {
    return "| %s | %d | %s | %.3f | %d | %d (%.2f %%) %s | %d | %d | %d %s | %d | %d | %.0f %% |"
        .formatted(
            kind.words(),
            happened.size(),
            overshoot.isEmpty() ? "0" : overshoot.toString(),
            utilization,
            requests.requests(),
            requests.failed(),
            requests.percentFailed(),
            requests.reasons(),
            requests.behind(),
            requests.unanswered(),
            lost - lostWithoutFault(),
            lostByFault(),
            lostWithoutFault(),
            floodedKeys,
            100 * others);
  }
}
