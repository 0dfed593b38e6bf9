package io.throttlekit.bench.chaos;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.Schedule.Planned;
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
import java.util.concurrent.atomic.LongAdder;

/**
 * A fleet under load from its start to its end, with faults between two quiet times. For one
 * thread.
 */
final class Round implements AutoCloseable {
  private static final long SETTLING_MILLIS = 1_000;
  private static final long QUIET_MILLIS = 2_500;
  private static final long MAX_LATE_SECONDS = 120;

  private final TimeSource time = TimeSource.system();
  private final ChaosFleet fleet;
  private final Load load;
  private final Stage stage;
  private final PrintStream log;
  private final long beganMillis;
  private final List<QuietTime> quiet = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  private Round(ChaosFleet fleet, PrintStream log) {
    this.fleet = fleet;
    this.log = log;
    this.load = new Load(fleet);
    this.stage = new Stage(fleet, load, new LongAdder());
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
    return new Round(ChaosFleet.start(folder, kind), log);
  }

  /** Runs a whole round. */
  static RoundResult run(Path folder, CoordinatorKind kind, Schedule schedule, PrintStream log)
      throws IOException, SQLException, InterruptedException {
    try (Round round = start(folder, kind, log)) {
      round.awaitFirstUnits();
      round.quiet();
      List<Happened> happened = round.happen(schedule);
      round.quiet();
      return round.result(happened);
    }
  }

  /** Waits until every region has admitted units: the first decisions of a process are slow. */
  void awaitFirstUnits() throws InterruptedException {
    long began = time.monotonicNanos();
    boolean admitted = Waiting.until(() -> load.outcomes().allRegionsAdmittedSince(began));
    if (!admitted) {
      log.println("a region admitted nothing in the first ten seconds");
    }
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(SETTLING_MILLIS));
  }

  /** Lets nothing happen for a while, in which every window has to admit units. */
  void quiet() throws InterruptedException {
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(SETTLING_MILLIS));
    long from = fleet.clock().latest(time.wallMillis());
    Waiting.untilNanos(time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(QUIET_MILLIS));
    quiet.add(new QuietTime(from, fleet.clock().earliest(time.wallMillis())));
  }

  /** Lets faults happen in both lanes, and waits until they are over. */
  List<Happened> happen(Schedule schedule) throws InterruptedException {
    List<CompletableFuture<List<Happened>>> lanes =
        List.of(
            Lane.run(schedule.machines(), stage, log), Lane.run(schedule.clients(), stage, log));
    List<Happened> happened = new ArrayList<>();
    for (CompletableFuture<List<Happened>> lane : lanes) {
      try {
        happened.addAll(
            lane.get(lastMillis(schedule) / 1_000 + MAX_LATE_SECONDS, TimeUnit.SECONDS));
      } catch (ExecutionException e) {
        Throwable cause = e.getCause();
        problems.add(String.valueOf(cause == null ? e.getMessage() : cause.getMessage()));
      } catch (TimeoutException _) {
        problems.add("faults do not end: the fleet hangs");
      }
    }
    return happened;
  }

  private static long lastMillis(Schedule schedule) {
    List<Planned> all = new ArrayList<>(schedule.machines());
    all.addAll(schedule.clients());
    return all.stream().mapToLong(each -> each.atMillis() + each.lastsMillis()).max().orElse(0);
  }

  Load load() {
    return load;
  }

  ChaosFleet fleet() {
    return fleet;
  }

  /** Holds the fleet to answering, and the load to its limits. */
  RoundResult result(List<Happened> happened) {
    probe();
    double lost = fleet.metric("throttlekit_federation_lost_units_total");
    long toMillis = time.wallMillis();
    load.stop();
    return RoundResult.of(
        fleet,
        load,
        happened,
        problems,
        quiet,
        beganMillis,
        toMillis,
        lost,
        stage.floodedKeys().sum());
  }

  private void probe() {
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      if (!fleet.node(process).alive()) {
        problems.add("process " + process + " ended by itself: " + fleet.node(process).log());
        continue;
      }
      ManagedChannel channel = Load.channel(fleet.node(process).port());
      if (!Waiting.until(() -> serves(channel))) {
        problems.add("process " + process + " does not serve ten seconds after all faults");
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
  }
}
