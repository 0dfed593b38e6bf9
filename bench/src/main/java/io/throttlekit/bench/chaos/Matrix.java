package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Each fault alone, three seconds long, on fleets that live as long as all rows of their
 * coordinator.
 *
 * @param seed named in the report; the faults are always the same
 * @param folder for files of the processes
 */
public record Matrix(long seed, Path folder) {
  private static final long FAULT_MILLIS = 3_000;
  private static final long SETTLING_MILLIS = 2_000;
  private static final long RECOVERY_MILLIS = 5_000;
  private static final String NO_REGIONS = "no limit over regions: each has its own counters";
  private static final String SILENT = "not documented";

  /**
   * A fault and its words.
   *
   * @param original what envoyproxy/ratelimit does
   */
  record Case(String what, Fault fault, String original) {}

  /** The rows with Redis as the coordinator, and those in which PostgreSQL may differ. */
  static List<Case> cases(CoordinatorKind kind) {
    int coordinator = ServerKilled.COORDINATOR;
    List<Case> shared =
        List.of(
            new Case("coordinator killed", new ServerKilled(coordinator), NO_REGIONS),
            new Case("coordinator paused", new ServerPaused(coordinator), NO_REGIONS),
            new Case(
                "a region cut off from the coordinator",
                new LinkCut(new Link(0, true), true),
                NO_REGIONS),
            new Case(
                "coordinator 200 ms away from a region",
                new RepliesDelayed(new Link(0, true), 200),
                NO_REGIONS));
    if (kind == CoordinatorKind.POSTGRESQL) {
      List<Case> cases = new ArrayList<>(shared);
      cases.add(
          new Case(
              "coordinator's clock 0.7 s forward", new CoordinatorClockStepped(700), NO_REGIONS));
      return cases;
    }
    List<Case> cases = new ArrayList<>();
    cases.add(new Case("none", new ProcessClockStepped(0, 0), "–"));
    cases.add(new Case("process killed", new ProcessKilled(0), "counts are in Redis"));
    cases.add(new Case("process paused", new ProcessPaused(2), SILENT));
    cases.add(
        new Case(
            "store killed, empty afterwards",
            new ServerKilled(0),
            "counts start again, without notice (documented)"));
    cases.add(
        new Case(
            "store paused",
            new ServerPaused(1),
            "requests wait: p99 4.9 s, 7 % fail at 500/s and 6 s (measured)"));
    cases.add(
        new Case(
            "store 200 ms away",
            new RepliesDelayed(new Link(0, false), 200),
            "requests wait, without a deadline of its own (documented)"));
    cases.add(
        new Case(
            "store cut off",
            new LinkCut(new Link(1, false), true),
            "requests fail with UNKNOWN, and no longer once Redis is back (documented)"));
    cases.add(
        new Case(
            "store restored from a snapshot",
            new SnapshotRestored(0),
            "what came after the snapshot is forgotten, without notice (documented)"));
    cases.add(
        new Case(
            "store failed over",
            new FailedOver(),
            "what was not replicated is forgotten, without notice (documented)"));
    cases.add(
        new Case(
            "a process's clock 60 s ahead",
            new ProcessClockStepped(1, 60_000),
            "it counts in other windows than the others (documented)"));
    cases.add(
        new Case("a process's clock 60 s behind", new ProcessClockStepped(1, -60_000), "the same"));
    cases.addAll(shared);
    cases.add(new Case("60 slow readers of one process", new SlowReaders(3, 60), SILENT));
    cases.add(
        new Case("hostile streams of 4 connections", new HostileStreams(4, 4), "no such services"));
    cases.add(new Case("keys of 58 KB", new LongKeys(5, 500, 58_000), SILENT));
    cases.add(new Case("20,000 new keys", new KeyFlood(0, 20_000), SILENT));
    cases.add(new Case("10 × load in a region", new LoadMultiplied(0, 10), SILENT));
    return cases;
  }

  /**
   * Runs it; takes five minutes.
   *
   * @param log receives each row when it is over
   */
  public MatrixReport run(PrintStream log) throws IOException, InterruptedException {
    List<MatrixRow> rows = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (CoordinatorKind kind : CoordinatorKind.values()) {
      try (ChaosFleet fleet = ChaosFleet.start(folder.resolve("matrix-" + kind), kind)) {
        for (Case each : cases(kind)) {
          try {
            rows.add(row(each, fleet));
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
    return new MatrixReport(seed, rows, problems);
  }

  private static MatrixRow row(Case each, ChaosFleet fleet) throws Exception {
    TimeSource time = TimeSource.system();
    int[] lossesBefore = fleet.losses();
    try (Load load = new Load(fleet)) {
      awaitAll(load, time.monotonicNanos());
      pause(time, SETTLING_MILLIS);
      long fromMillis = time.wallMillis();
      Fault.Running running = each.fault().begin(new Stage(fleet, load, new LongAdder()));
      try {
        pause(time, FAULT_MILLIS);
      } finally {
        running.end();
      }
      long ended = time.monotonicNanos();
      double resumed = awaitAll(load, ended) ? (time.monotonicNanos() - ended) / 1e9 : Double.NaN;
      Waiting.untilNanos(ended + TimeUnit.MILLISECONDS.toNanos(RECOVERY_MILLIS));
      double failing = load.outcomes().recoveryNanos(ended) / 1e9;
      long toMillis = time.wallMillis();
      load.stop();
      int[] losses = fleet.losses();
      for (int region = 0; region < losses.length; region++) {
        losses[region] -= lossesBefore[region];
      }
      return new MatrixRow(
          each.what(),
          fleet.kind(),
          load.admitted().stream()
              .flatMap(units -> units.overshoot(losses).values().stream())
              .mapToLong(Long::longValue)
              .sum(),
          load.admitted().getFirst().utilization(fromMillis, toMillis),
          load.outcomes().requests(),
          load.outcomes().failed(),
          Math.max(resumed, failing),
          each.original());
    }
  }

  /** Waits until every region has admitted units that all share. */
  private static boolean awaitAll(Load load, long sinceNanos) {
    return Waiting.until(() -> load.outcomes().allRegionsAdmittedSince(sinceNanos));
  }

  private static void pause(TimeSource time, long millis) throws InterruptedException {
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
