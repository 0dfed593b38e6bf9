package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fault.CoordinatorClockStepped;
import io.throttlekit.bench.chaos.fault.CoordinatorFailedOver;
import io.throttlekit.bench.chaos.fault.FailedOver;
import io.throttlekit.bench.chaos.fault.Fault;
import io.throttlekit.bench.chaos.fault.HostileStreams;
import io.throttlekit.bench.chaos.fault.KeyFlood;
import io.throttlekit.bench.chaos.fault.LinkCut;
import io.throttlekit.bench.chaos.fault.LoadMultiplied;
import io.throttlekit.bench.chaos.fault.LongKeys;
import io.throttlekit.bench.chaos.fault.ProcessClockStepped;
import io.throttlekit.bench.chaos.fault.ProcessKilled;
import io.throttlekit.bench.chaos.fault.ProcessPaused;
import io.throttlekit.bench.chaos.fault.RepliesDelayed;
import io.throttlekit.bench.chaos.fault.ServerKilled;
import io.throttlekit.bench.chaos.fault.ServerPaused;
import io.throttlekit.bench.chaos.fault.SlowReaders;
import io.throttlekit.bench.chaos.fault.SnapshotRestored;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.fleet.Link;
import java.util.ArrayList;
import java.util.List;

/**
 * A fault by itself, and its description.
 *
 * @param original behaviour of envoyproxy/ratelimit
 * @param atMillis when it begins, since a window of the regions' own limits began
 * @param lastsMillis until it ends
 */
record MatrixCase(String what, Fault fault, String original, long atMillis, long lastsMillis) {
  private static final String NO_REGIONS = "no limit over regions: each has its own counters";

  /**
   * Time within a window at which the limits of regions are used up: counters that start again then
   * exceed them.
   */
  private static final long AFTER_THE_LIMIT_MILLIS = 2_200;

  private static final String SILENT = "not documented";
  private static final Fault NONE = new ProcessClockStepped(0, 0);

  /** Creates a fault of three seconds, early in a window. */
  MatrixCase(String what, Fault fault, String original) {
    this(what, fault, original, 500, 3_000);
  }

  /** Returns the rows with Redis as the coordinator, or those in which PostgreSQL may differ. */
  static List<MatrixCase> of(CoordinatorKind kind) {
    int coordinator = ServerKilled.COORDINATOR;
    List<MatrixCase> cases = new ArrayList<>();
    // A row of its own, so that the rows after it are about their faults alone.
    cases.add(new MatrixCase("none: six processes just started", NONE, "–"));
    List<MatrixCase> shared =
        List.of(
            new MatrixCase("coordinator killed", new ServerKilled(coordinator), NO_REGIONS),
            new MatrixCase("coordinator paused", new ServerPaused(coordinator), NO_REGIONS),
            new MatrixCase(
                "a region cut off from the coordinator",
                new LinkCut(new Link(0, true), true),
                NO_REGIONS),
            new MatrixCase(
                "coordinator 200 ms away from a region",
                new RepliesDelayed(new Link(0, true), 200),
                NO_REGIONS));
    if (kind == CoordinatorKind.POSTGRESQL) {
      cases.addAll(shared);
      cases.add(
          new MatrixCase(
              "coordinator's clock 0.7 s forward", new CoordinatorClockStepped(700), NO_REGIONS));
      cases.add(
          new MatrixCase(
              "coordinator failed over to its standby", new CoordinatorFailedOver(), NO_REGIONS));
      return cases;
    }
    cases.add(new MatrixCase("none", NONE, "–"));
    cases.add(
        new MatrixCase(
            "process killed",
            new ProcessKilled(0),
            "nothing is lost: counts are in Redis (documented)"));
    cases.add(new MatrixCase("process paused", new ProcessPaused(2), SILENT));
    cases.add(
        new MatrixCase(
            "store killed, empty half a second later",
            new ServerKilled(0),
            "counts start again, without notice (documented)",
            AFTER_THE_LIMIT_MILLIS,
            500));
    cases.add(
        new MatrixCase(
            "store paused",
            new ServerPaused(1),
            "requests wait: p99 4.9 s, 7 % fail (measured, 6 s, 500/s)"));
    cases.add(
        new MatrixCase(
            "store 200 ms away",
            new RepliesDelayed(new Link(0, false), 200),
            "requests wait for as long as their callers (documented)"));
    cases.add(
        new MatrixCase(
            "store cut off",
            new LinkCut(new Link(1, false), true),
            "requests fail with UNKNOWN until Redis is back (documented)"));
    cases.add(
        new MatrixCase(
            "store restored from a snapshot",
            new SnapshotRestored(0),
            "what came after the snapshot is forgotten, without notice (documented)"));
    cases.add(
        new MatrixCase(
            "store failed over",
            new FailedOver(),
            "what was not replicated is forgotten; READONLY errors after it (documented)"));
    cases.add(
        new MatrixCase(
            "a process's clock 60 s ahead",
            new ProcessClockStepped(1, 60_000),
            "it counts in other windows than the others (documented)"));
    cases.add(
        new MatrixCase(
            "a process's clock 60 s behind", new ProcessClockStepped(1, -60_000), "the same"));
    cases.addAll(shared);
    cases.add(new MatrixCase("60 slow readers of one process", new SlowReaders(3, 60), SILENT));
    cases.add(
        new MatrixCase(
            "hostile streams of 4 connections", new HostileStreams(4, 4), "no such services"));
    cases.add(
        new MatrixCase(
            "keys of 58 KB", new LongKeys(5, 500, 58_000), "keys are stored whole (documented)"));
    cases.add(
        new MatrixCase(
            "20,000 new keys", new KeyFlood(0, 20_000), "a key in Redis for each (documented)"));
    cases.add(new MatrixCase("10 × load in a region", new LoadMultiplied(0, 10), SILENT));
    return cases;
  }
}
