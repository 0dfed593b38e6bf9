package io.throttlekit.bench.federation;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.federation.SkewRow.PublishedSkew;
import io.throttlekit.bench.machine.StolenTime;
import io.throttlekit.bench.server.Servers;
import io.throttlekit.testkit.WindowTally;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures three regions as processes, each with its Redis, and one coordinator: the units of one
 * limit that they admit together at each skew, their requests to the coordinator, and the latency
 * of a decision when the coordinator is far away.
 */
final class FederationBenchmark {
  static final Set<String> OPTIONS = options();

  // Regions, limit and window of the published simulation.
  private static final int REGIONS = 3;
  private static final long LIMIT = 300;
  private static final long WINDOW_MILLIS = 10_000;
  // Utilization and trips of the published simulation, for each skew.
  private static final List<PublishedSkew> PUBLISHED =
      List.of(
          new PublishedSkew(0, .973, 92),
          new PublishedSkew(.25, .977, 90),
          new PublishedSkew(.5, .990, 83),
          new PublishedSkew(.75, .957, 102),
          new PublishedSkew(1, 1.0, 76));
  private static final List<Long> DELAYS_MILLIS = List.of(1L, 10L, 50L, 100L);
  private static final double NANOS_PER_MILLI = 1e6;

  private FederationBenchmark() {}

  private static Set<String> options() {
    Set<String> options = new TreeSet<>(Servers.OPTIONS);
    options.addAll(Set.of("windows", "coordinator", "only"));
    return Set.copyOf(options);
  }

  /** Prints Markdown tables, then one line of JSON for each coordinator. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(FederationBenchmark::read, OPTIONS, System.err, args));
  }

  static Program read(Arguments arguments) {
    arguments.noWords();
    int windows = arguments.integer("windows", 2, 4);
    String coordinator = arguments.text("coordinator", "both");
    if (!Set.of("redis", "postgresql", "both").contains(coordinator)) {
      throw new IllegalArgumentException(
          "--coordinator is redis, postgresql or both, not " + coordinator);
    }
    String only = arguments.text("only", "");
    if (!Set.of("", "skews", "delays").contains(only)) {
      throw new IllegalArgumentException("--only is skews or delays, not " + only);
    }
    Servers servers = Servers.from(arguments);
    return () -> {
      servers.makeCaches("shared");
      List<Target> targets = new ArrayList<>();
      if (!coordinator.equals("postgresql")) {
        targets.addAll(measure(servers, CoordinatorProcess.redis(), windows, only));
      }
      if (!coordinator.equals("redis")) {
        targets.addAll(measure(servers, CoordinatorProcess.postgres(), windows, only));
      }
      Target.require(targets);
    };
  }

  private static List<Target> measure(
      Servers servers, CoordinatorProcess opened, int windows, String only) throws IOException {
    try (CoordinatorProcess coordinator = opened;
        Regions regions = Regions.start(servers, coordinator, REGIONS)) {
      System.out.println("## Coordinator: " + coordinator.name() + "\n");
      List<Target> targets = new ArrayList<>();
      if (!only.equals("delays")) {
        targets.addAll(skews(regions, windows));
      }
      if (!only.equals("skews")) {
        delays(regions, windows);
      }
      System.out.println('\n' + Target.table(targets));
      System.out.println(Target.jsonArray(targets));
      return targets;
    }
  }

  private static List<Target> skews(Regions regions, int windows) throws IOException {
    List<Target> targets = new ArrayList<>();
    System.out.println(
        "| skew | admitted (each window) | U | published | divided | overshoot | trips of 2 windows"
            + " | published |\n"
            + "|---|---|---|---|---|---|---|---|");
    for (PublishedSkew published : PUBLISHED) {
      SkewRow row = skew(regions, published.skew(), windows);
      System.out.println(row.row(REGIONS, published));
      String at = String.format(Locale.ROOT, " at skew %.2f", published.skew());
      targets.add(Target.atLeast("utilization" + at, .995, row.utilization()));
      targets.add(Target.atMost("overshoot" + at, 0, (double) row.overshoot()));
      targets.add(Target.atMost("trips" + at, (double) published.trips(), row.tripsOfTwoWindows()));
      targets.add(Target.atMost("unanswered" + at, 0, (double) row.failed()));
    }
    return targets;
  }

  private static void delays(Regions regions, int windows) throws IOException {
    System.out.println(
        "\n| delay of the coordinator | p50 | p99 | most | at the start of a window, most | trips"
            + " | stolen from this machine |\n|---|---|---|---|---|---|---|");
    for (long delay : DELAYS_MILLIS) {
      System.out.println(latency(regions, delay, windows));
    }
  }

  private static SkewRow skew(Regions regions, double skew, int windows) throws IOException {
    try (EvenDemand demand = new EvenDemand("skew " + skew, WINDOW_MILLIS);
        OpenRegions open = OpenRegions.of(regions)) {
      open.offer(demand, skew, LIMIT * 1_000.0 / WINDOW_MILLIS);
      // Skips the incomplete window in which the demand begins, and the one after it.
      awaitWindows(2);
      long before = regions.coordinatorTrips();
      long first = windowEnd(TimeSource.system().wallMillis());
      awaitWindows(windows);
      long trips = regions.coordinatorTrips() - before;
      long end = first + (windows - 1) * WINDOW_MILLIS;
      WindowTally admitted = demand.admitted();
      List<Long> each = new ArrayList<>();
      for (long window = first; window <= end; window += WINDOW_MILLIS) {
        each.add(admitted.window(window).units());
      }
      return new SkewRow(
          skew,
          each,
          admitted.units(first, end),
          admitted.overshoot(LIMIT),
          trips,
          demand.failed(),
          LIMIT);
    }
  }

  private static String latency(Regions regions, long delayMillis, int windows) throws IOException {
    regions.delay(delayMillis);
    try (EvenDemand demand = new EvenDemand("delay " + delayMillis, WINDOW_MILLIS);
        OpenRegions open = OpenRegions.of(regions)) {
      open.offer(demand, 1, LIMIT * 1_000.0 / WINDOW_MILLIS);
      awaitWindows(2);
      var _ = demand.takeLatencies();
      StolenTime stolen = StolenTime.sinceNow();
      long before = regions.coordinatorTrips();
      Histogram all = new Histogram(3);
      double mostAtStart = 0;
      for (int window = 0; window < windows; window++) {
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
        Histogram start = demand.takeLatencies();
        mostAtStart = Math.max(mostAtStart, start.getMaxValue() / NANOS_PER_MILLI);
        all.add(start);
        awaitWindows(1);
        all.add(demand.takeLatencies());
      }
      return String.format(
          Locale.ROOT,
          "| %d ms | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %d | %d ms |",
          delayMillis,
          all.getValueAtPercentile(50) / NANOS_PER_MILLI,
          all.getValueAtPercentile(99) / NANOS_PER_MILLI,
          all.getMaxValue() / NANOS_PER_MILLI,
          mostAtStart,
          regions.coordinatorTrips() - before,
          stolen.millis());
    } finally {
      regions.delay(0);
    }
  }

  /** Waits until this number of windows has begun; the coordinator's clock is this host's. */
  private static void awaitWindows(int windows) {
    TimeSource time = TimeSource.system();
    long until = windowEnd(time.wallMillis()) + (windows - 1) * WINDOW_MILLIS;
    for (long left = until - time.wallMillis(); left > 0; left = until - time.wallMillis()) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(left));
    }
  }

  private static long windowEnd(long millis) {
    return millis - Math.floorMod(millis, WINDOW_MILLIS) + WINDOW_MILLIS;
  }
}
