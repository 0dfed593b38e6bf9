package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.MeshCounts.Window;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Runs the scenario of the mesh and reports it: sends the traffic, partitions a region, counts, and
 * prints the results. Not thread-safe.
 */
final class MeshRun implements AutoCloseable {
  private static final long POLL_MILLIS = 500; // CoordinatorClock needs one a second

  /** The time that is allowed for the last responses of a window. */
  private static final long LATE_MILLIS = 300;

  private static final int CUT = MeshScenario.REGIONS.indexOf(MeshScenario.CUT);

  private final MeshScenario scenario;
  private final List<MeshRegion> regions;
  private final CoordinatorClock clock;
  private final TimeSource time;
  private final PrintStream out;
  private final MeshCounts counts;
  private final Cuts cuts = new Cuts(CUT);
  private final MeshTraffic traffic;
  private final long firstWindow;
  private long polledMillis;
  private long reported;
  private boolean cut;
  private boolean refusalReported;
  private int reportedReturns;

  MeshRun(
      MeshScenario scenario,
      List<MeshRegion> regions,
      CoordinatorClock clock,
      TimeSource time,
      PrintStream out) {
    this.scenario = scenario;
    this.regions = regions;
    this.clock = clock;
    this.time = time;
    this.out = out;
    this.counts = new MeshCounts(scenario);
    this.firstWindow = clock.aboutMillis() / scenario.windowMillis() + 1;
    this.traffic =
        new MeshTraffic(
            regions.stream().map(MeshRegion::envoy).toList(),
            region -> scenario.rate(region, sinceFirstWindow()),
            this::answered,
            time);
  }

  /** Starts the traffic. The next window is the first that counts. */
  void begin() {
    print(
        "one limit for all: %d requests in %d s; %s are sent half as much again, unevenly"
            .formatted(
                scenario.limit(),
                scenario.windowMillis() / 1000,
                String.join(", ", MeshScenario.REGIONS)));
    traffic.start();
  }

  /**
   * Runs and reports what is due; to be called every few ms. Returns whether the scenario has
   * ended.
   */
  boolean advance(long windows) {
    long now = sinceFirstWindow();
    if (clock.aboutMillis() - polledMillis >= POLL_MILLIS) {
      clock.poll();
      polledMillis = clock.aboutMillis();
    }
    if (now < windows * scenario.windowMillis()) {
      cutOrConnect(now);
    }
    reportCut();
    while (reported < windows && now >= (reported + 1) * scenario.windowMillis() + LATE_MILLIS) {
      reportWindow(reported++);
    }
    return reported == windows;
  }

  private void cutOrConnect(long now) {
    if (scenario.isCut(now) == cut) {
      return;
    }
    cut = !cut;
    if (cut) {
      regions.get(CUT).cut();
      cuts.begin(time.monotonicNanos());
      refusalReported = false;
      print(MeshScenario.CUT + " is cut off from the coordinator, and spends what it has leased");
    } else {
      cuts.end(time.monotonicNanos());
      regions.get(CUT).connect();
      print(MeshScenario.CUT + " reaches the coordinator again");
    }
  }

  private void reportCut() {
    if (cut && !refusalReported && cuts.refuses()) {
      refusalReported = true;
      print("%s has spent %d, and refuses".formatted(MeshScenario.CUT, cuts.spent()));
    }
    List<Cuts.Cut> ended = cuts.ended();
    if (ended.size() > reportedReturns && ended.getLast().millisToReturn() >= 0) {
      reportedReturns = ended.size();
      print(
          "%s admits again, %d ms after it could reach the coordinator"
              .formatted(MeshScenario.CUT, ended.getLast().millisToReturn()));
    }
  }

  private void reportWindow(long index) {
    Window window = counts.window(firstWindow + index);
    String byRegion =
        IntStream.range(0, regions.size())
            .mapToObj(region ->
                "%s %d of %d"
                    .formatted(
                        MeshScenario.REGIONS.get(region),
                        window.admitted().get(region),
                        window.admitted().get(region) + window.refused().get(region)))
            .reduce((one, other) -> one + ", " + other)
            .orElse("");
    print(
        "window %d is over: admitted %d of %d: %s"
            .formatted(index + 1, window.total(), scenario.limit(), byRegion));
  }

  /** Waits for the last responses. Returns the counts of complete windows. */
  MeshSummary end() throws InterruptedException {
    traffic.finish();
    long whole =
        Math.max(
            0, Math.min(reported, clock.aboutMillis() / scenario.windowMillis() - firstWindow));
    List<Window> windows =
        IntStream.range(0, (int) whole).mapToObj(i -> counts.window(firstWindow + i)).toList();
    return new MeshSummary(
        scenario.limit(), windows, cuts.ended(), counts.undecided(), counts.failed());
  }

  @Override
  public void close() {
    traffic.close();
  }

  private void answered(
      int region, Answer answer, long sentNanos, long answeredNanos, long resetSeconds) {
    cuts.add(region, answer, sentNanos, answeredNanos);
    counts.add(
        new MeshAnswer(
            region,
            answer,
            clock.earliestMicros(sentNanos),
            clock.latestMicros(answeredNanos),
            resetSeconds));
  }

  private long sinceFirstWindow() {
    return clock.aboutMillis() - firstWindow * scenario.windowMillis();
  }

  private void print(String words) {
    out.printf("%6.1f s  %s%n", sinceFirstWindow() / 1000.0, words);
    out.flush();
  }
}
