package io.throttlekit.testkit.session;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Halts this JVM when no test of it starts or ends any more.
 *
 * <p>Events are counted, and the count is compared once per period: a run is stalled when a whole
 * period goes by without one. Thread-safe.
 */
final class StalledRun implements AutoCloseable {
  static final int EXIT_CODE = 86; // of no signal and of no other part of the build

  private static final long TRANSFER_MILLIS = 5_000;

  private final Map<String, TestIdentifier> running = new LinkedHashMap<>();
  private final AtomicLong events = new AtomicLong();
  private final ScheduledExecutorService clock =
      Executors.newScheduledThreadPool(
          2, // a report that blocks does not keep the JVM from being halted
          Thread.ofPlatform().daemon().name("stalled-run").factory());
  private final Duration period;
  private final PrintStream console;
  private long seen = -1;

  private StalledRun(Duration period, PrintStream console) {
    this.period = period;
    this.console = console;
  }

  /** Starts to watch the events, which {@link #started} and {@link #finished} report. */
  static StalledRun watch(Duration period, PrintStream console) {
    StalledRun run = new StalledRun(period, console);
    var _ =
        run.clock.scheduleAtFixedRate(
            run::check, period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    return run;
  }

  void started(TestIdentifier test) {
    progressed();
    synchronized (running) {
      running.put(test.getUniqueId(), test);
    }
  }

  void finished(TestIdentifier test) {
    progressed();
    synchronized (running) {
      running.remove(test.getUniqueId());
    }
  }

  void progressed() {
    events.incrementAndGet();
  }

  private void check() {
    long now = events.get();
    if (now != seen) {
      seen = now;
      return;
    }
    seen = -1; // reports once
    // Surefire sends what is printed from a thread of its own. Hooks may hang as the test does.
    var _ =
        clock.schedule(
            () -> Runtime.getRuntime().halt(EXIT_CODE), TRANSFER_MILLIS, TimeUnit.MILLISECONDS);
    String report =
        "No test has started or ended for %d s. Running: %s; %s"
            .formatted(period.toSeconds(), innermost(), ThreadStacks.now().getMessage());
    console.println(report);
    console.flush();
    System.err.println(report); // to the file of the class
  }

  /** Returns the running tests, or the containers in which nothing runs. */
  private List<String> innermost() {
    synchronized (running) {
      Collection<TestIdentifier> all = running.values();
      return all.stream()
          .filter(test ->
              all.stream()
                  .noneMatch(other ->
                      other
                          .getParentIdObject()
                          .filter(test.getUniqueIdObject()::equals)
                          .isPresent()))
          .map(TestNames::of)
          .toList();
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
