package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.fault.Fault;
import io.throttlekit.bench.chaos.fault.Stage;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.StoreLoss;
import io.throttlekit.bench.chaos.fleet.Waiting;
import io.throttlekit.bench.chaos.traffic.Admissions;
import io.throttlekit.bench.chaos.traffic.Load;
import io.throttlekit.bench.chaos.traffic.RequestFigures;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Runs each fault by itself, on one fleet for all rows of a coordinator. A row consists of whole
 * windows of all limits.
 *
 * @param folder for files of the processes
 */
public record Matrix(Path folder) {
  private static final long WINDOW_MILLIS = Counters.REGIONAL_WINDOW_MILLIS;
  // The first decisions of new processes are slow, and not part of a row.
  private static final long SETTLING_MILLIS = 2_000;
  // One window of the regions' limits.
  private static final long RECOVERY_MILLIS = 4_000;
  // A fleet that needs longer counts as not recovered.
  private static final Duration MAX_RECOVERY = Duration.ofSeconds(30);

  /**
   * Runs all rows.
   *
   * @param log receives each row when it is complete
   */
  public MatrixReport run(PrintStream log) throws IOException, InterruptedException {
    List<MatrixRow> rows = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (CoordinatorKind kind : CoordinatorKind.values()) {
      try (ChaosFleet fleet = ChaosFleet.start(folder.resolve("matrix-" + kind), kind)) {
        Admissions admitted = new Admissions(fleet.clock());
        for (MatrixCase each : MatrixCase.of(kind)) {
          try {
            rows.add(row(each, fleet, admitted, problems));
            log.println(rows.getLast().markdown());
          } catch (InterruptedException e) {
            throw e;
          } catch (Exception e) {
            problems.add(each.what() + ": " + e.getMessage());
            log.println(problems.getLast());
          }
        }
      } catch (SQLException e) {
        throw new IOException(e);
      }
    }
    return new MatrixReport(rows, problems);
  }

  /** Runs a row. Units beyond limits count from its first request on. */
  private static MatrixRow row(
      MatrixCase each, ChaosFleet fleet, Admissions admitted, List<String> problems)
      throws Exception {
    TimeSource time = TimeSource.system();
    ToLongFunction<List<StoreLoss>> overshoot =
        admitted.overshootSince(fleet.losses(), time.wallMillis());
    try (Load load = new Load(fleet, admitted)) {
      Stage stage = Stage.of(fleet, load);
      if (!awaitAll(load, time.monotonicNanos())) {
        stage.problems().add("a region admits nothing before a fault");
      }
      long lostBefore = stage.lost().read();
      pause(time, SETTLING_MILLIS);
      long fromMillis = nextWindowMillis(time.wallMillis());
      untilMillis(time, fromMillis + each.atMillis());
      long began = time.monotonicNanos();
      Fault.Running running = each.fault().begin(stage);
      try {
        pause(time, each.lastsMillis());
      } finally {
        running.end();
      }
      long since = each.fault().endsByItself() ? began : time.monotonicNanos();
      double resumed = awaitAll(load, since) ? (time.monotonicNanos() - since) / 1e9 : Double.NaN;
      long toMillis = nextWindowMillis(time.wallMillis() + RECOVERY_MILLIS);
      untilMillis(time, toMillis);
      load.stop();
      double failing = load.outcomes().recoveryNanos(since) / 1e9;
      for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
        stage.expectAlive(process);
      }
      load.reportFailure(stage.problems());
      RequestFigures requests = load.outcomes().figures();
      stage.problems().forEach(problem -> problems.add(each.what() + ": " + problem));
      return new MatrixRow(
          each.what(),
          fleet.kind(),
          overshoot.applyAsLong(fleet.losses()),
          admitted.shared().utilization(fromMillis - 1, toMillis),
          admitted.regionalUtilization(each.fault().region(), fromMillis - 1, toMillis),
          requests,
          Math.max(resumed, failing),
          stage.lost().read() - lostBefore,
          each.original());
    }
  }

  /** Returns the end of the window that contains a time. */
  private static long nextWindowMillis(long millis) {
    return Math.ceilDiv(millis, WINDOW_MILLIS) * WINDOW_MILLIS;
  }

  private static void untilMillis(TimeSource time, long millis) throws InterruptedException {
    pause(time, millis - time.wallMillis());
  }

  /** Waits until every region has admitted units of the shared limit. */
  private static boolean awaitAll(Load load, long sinceNanos) {
    return Waiting.until(() -> load.outcomes().allRegionsAdmittedSince(sinceNanos), MAX_RECOVERY);
  }

  private static void pause(TimeSource time, long millis) throws InterruptedException {
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
