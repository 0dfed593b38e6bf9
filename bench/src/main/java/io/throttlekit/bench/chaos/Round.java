package io.throttlekit.bench.chaos;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.Schedule.Planned;
import io.throttlekit.bench.chaos.fault.Stage;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.fleet.Counter;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.Waiting;
import io.throttlekit.bench.chaos.traffic.Admissions;
import io.throttlekit.bench.chaos.traffic.Load;
import io.throttlekit.bench.machine.ExternalCpuUse;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A fleet under load from its start to its end, with faults between two quiet times. For one
 * thread.
 */
final class Round implements AutoCloseable {
  // Time for leases and connections to recover, before windows are checked.
  private static final long SETTLING_MILLIS = 1_000;
  private static final long QUIET_MILLIS = 2_500; // at least one whole window of a second
  // Faults that are due later than that after their round show that the fleet hangs.
  private static final long MAX_LATE_SECONDS = 300;
  private static final int QUIET_ATTEMPTS = 8; // on a busy machine

  /**
   * Stall of this process up to which a quiet time counts. On a machine that stalls it for longer,
   * others may be stalled too.
   */
  private static final long MAX_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final TimeSource time = TimeSource.system();
  private final ChaosFleet fleet;
  private final Load load;
  private final Stage stage;
  private final PrintStream log;
  private final ExternalCpuUse others;
  private final long beganMillis;
  private final List<QuietTime> quiet = new ArrayList<>();

  private Round(ChaosFleet fleet, ExternalCpuUse others, PrintStream log) {
    this.fleet = fleet;
    this.others = others;
    this.log = log;
    this.load = new Load(fleet, new Admissions(fleet.clock()));
    this.stage = Stage.of(fleet, load);
    this.beganMillis = time.wallMillis();
  }

  /**
   * Starts a fleet and its load.
   *
   * @param folder for files of the processes
   * @param log receives a line for each fault
   */
  static Round start(Path folder, CoordinatorKind kind, PrintStream log)
      throws IOException, SQLException {
    ExternalCpuUse others = new ExternalCpuUse();
    try {
      return new Round(ChaosFleet.start(folder, kind), others, log);
    } catch (IOException | SQLException | RuntimeException e) {
      others.close();
      throw e;
    }
  }

  /** Runs a whole round. */
  static RoundResult run(Path folder, CoordinatorKind kind, Schedule schedule, PrintStream log)
      throws IOException, SQLException, InterruptedException {
    try (Round round = start(folder, kind, log)) {
      round.awaitFirstUnits();
      round.quiet();
      List<FaultResult> happened = round.happen(schedule);
      round.quiet();
      return round.result(happened);
    }
  }

  /** Waits until every region has admitted units: the first decisions of a process are slow. */
  void awaitFirstUnits() throws InterruptedException {
    long began = time.monotonicNanos();
    boolean admitted =
        Waiting.until(() -> load.outcomes().allRegionsAdmittedSince(began), Waiting.LONG);
    if (!admitted) {
      stage.problems().add("a region admitted nothing in the first minute");
    }
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(SETTLING_MILLIS));
  }

  /**
   * Waits for a time without faults, in which every window has to admit units. A time in which this
   * process did not run is not counted, and followed by another.
   */
  void quiet() throws InterruptedException {
    for (int attempt = 0; attempt < QUIET_ATTEMPTS; attempt++) {
      Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(SETTLING_MILLIS));
      long stalled = load.stalledNanos();
      long from = fleet.clock().latest(time.wallMillis());
      Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(QUIET_MILLIS));
      if (load.stalledNanos() - stalled <= MAX_STALL_NANOS) {
        quiet.add(new QuietTime(from, fleet.clock().earliest(time.wallMillis())));
        return;
      }
      log.println("this process did not run in a quiet time, which is not judged");
    }
  }

  /** Runs the faults of both lanes, and waits until they have ended. */
  List<FaultResult> happen(Schedule schedule) throws InterruptedException {
    List<CompletableFuture<List<FaultResult>>> lanes =
        List.of(
            Lane.run(schedule.machines(), true, stage, log),
            Lane.run(schedule.clients(), false, stage, log));
    List<FaultResult> happened = new ArrayList<>();
    for (CompletableFuture<List<FaultResult>> lane : lanes) {
      try {
        happened.addAll(
            lane.get(lastMillis(schedule) / 1_000 + MAX_LATE_SECONDS, TimeUnit.SECONDS));
      } catch (ExecutionException e) {
        Throwable cause = e.getCause();
        stage.problems().add(String.valueOf(cause == null ? e.getMessage() : cause.getMessage()));
      } catch (TimeoutException _) {
        stage.problems().add("faults do not end: the fleet hangs");
      }
    }
    return happened;
  }

  private static long lastMillis(Schedule schedule) {
    List<Planned> all = new ArrayList<>(schedule.machines());
    all.addAll(schedule.clients());
    return all.stream().mapToLong(each -> each.atMillis() + each.lastsMillis()).max().orElse(0);
  }

  /** Checks that the fleet answers, and compares admitted units with the limits. */
  RoundResult result(List<FaultResult> happened) throws IOException {
    probe();
    long lost = stage.lost().read();
    long toMillis = time.wallMillis();
    load.stop();
    return RoundResult.of(
        fleet,
        stage,
        happened,
        stage.problems(),
        quiet,
        beganMillis,
        toMillis,
        lost,
        others.share());
  }

  private void probe() {
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      stage.expectAlive(process);
      if (!fleet.node(process).alive()) {
        continue;
      }
      ManagedChannel channel = Load.channel(fleet.node(process).port());
      if (!Waiting.until(() -> serves(channel), Waiting.LONG)) {
        stage.problems().add("process " + process + " does not serve a minute after all faults");
      }
      channel.shutdownNow();
    }
  }

  private static boolean serves(ManagedChannel channel) {
    try {
      var _ =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(Load.ANSWER_SECONDS, TimeUnit.SECONDS)
              .shouldRateLimit(Counter.request(Counters.LONG, "probe"));
      return true;
    } catch (StatusRuntimeException _) {
      return false;
    }
  }

  @Override
  public void close() {
    load.close();
    fleet.close();
    others.close();
  }
}
