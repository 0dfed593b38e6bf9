package io.throttlekit.demo;

import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.MeshCounts.Window;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Sends requests to the regions of a {@link ContainerMesh}, and counts the admitted ones by window.
 * The containers share the clock of this machine. Not thread-safe.
 */
final class ContainerTraffic implements AutoCloseable {
  private static final MeshScenario SCENARIO = MeshScenario.within(MeshScenario.USUAL_SECONDS);

  /** Twice the limit in the part of a window that is far from its borders. */
  private static final int PER_SECOND = 25;

  private static final long FROM_MILLIS = 1_000;
  private static final long UNTIL_MILLIS = 9_000;

  private static final int SOME_PER_SECOND = 40;

  /** Enough for each replica to lease units and spend a part of them. */
  static final int SOME = 20;

  /** Envoy sends half of them to a stopped replica until it resolves the names again. */
  private static final int MANY_PER_SECOND = 150;

  private final TimeSource time;
  private final MeshCounts counts = new MeshCounts(SCENARIO);
  private final MeshTraffic traffic;
  private final AtomicIntegerArray rates = new AtomicIntegerArray(MeshScenario.REGIONS.size());
  private final AtomicIntegerArray answers = new AtomicIntegerArray(MeshScenario.REGIONS.size());
  private final long originMicros;
  private final long firstWindow;

  ContainerTraffic(List<URI> envoys, TimeSource time) {
    this.time = time;
    this.originMicros = time.wallMillis() * 1_000 - time.monotonicNanos() / 1_000;
    this.firstWindow = window();
    this.traffic = new MeshTraffic(envoys, rates::get, this::answered, time);
    traffic.start();
  }

  private void answered(int region, Answer answer, long sent, long answered, long reset) {
    counts.add(
        new MeshAnswer(
            region,
            answer,
            originMicros + sent / 1_000 - 1_000, // the wall clock was read in whole milliseconds
            originMicros + answered / 1_000 + 2_000,
            reset));
    if (answer != Answer.FAILED) {
      answers.incrementAndGet(region);
    }
  }

  long limit() {
    return SCENARIO.limit();
  }

  /** Returns the maximum over all windows. */
  long maxAdmitted() {
    return windows().mapToLong(Window::total).max().orElse(0);
  }

  /** Returns the sum over all windows, by index in {@link MeshScenario#REGIONS}. */
  List<Long> admittedByRegion() {
    return IntStream.range(0, rates.length())
        .mapToObj(region -> windows().mapToLong(window -> window.admitted().get(region)).sum())
        .toList();
  }

  private Stream<Window> windows() {
    return LongStream.rangeClosed(firstWindow, window()).mapToObj(counts::window);
  }

  /** Waits until each Envoy gets decisions from the service. */
  void awaitAnswers() {
    sendToAll(SOME_PER_SECOND / 10);
    await()
        .until(
            () -> IntStream.range(0, answers.length()).allMatch(region -> answers.get(region) > 0));
    sendToAll(0);
  }

  /** Continues to the end of the window, to detect later admissions. */
  void sendToAllUntilAWindowReachesTheLimit() {
    await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> {
          boolean inside = inWindow() >= FROM_MILLIS && inWindow() < UNTIL_MILLIS;
          sendToAll(inside ? PER_SECOND : 0);
          return LongStream.range(firstWindow, window())
              .anyMatch(window -> counts.window(window).total() >= limit());
        });
    sendToAll(0);
  }

  /** Sends requests and waits for the responses. Returns the window in which they were sent. */
  long sendSomeInANewWindow(int region) {
    long before = window();
    await().pollInterval(Duration.ofMillis(20)).until(() -> window() > before);
    long window = window();
    int answered = answers.get(region);
    rates.set(region, SOME_PER_SECOND);
    await().pollInterval(Duration.ofMillis(10)).until(() -> answers.get(region) >= answered + SOME);
    rates.set(region, 0);
    return window;
  }

  /** Sends until the limit is reached, or to the end of the window. Returns the units admitted. */
  long sendUntilTheLimitIsReached(int region, long window) {
    rates.set(region, MANY_PER_SECOND);
    await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> window() > window || counts.window(window).total() >= limit());
    rates.set(region, 0);
    return counts.window(window).total();
  }

  private void sendToAll(int perSecond) {
    for (int region = 0; region < rates.length(); region++) {
      rates.set(region, perSecond);
    }
  }

  private long window() {
    return time.wallMillis() / SCENARIO.windowMillis();
  }

  private long inWindow() {
    return time.wallMillis() % SCENARIO.windowMillis();
  }

  @Override
  public String toString() {
    return "admitted by window %s, %d between two, %d failed"
        .formatted(windows().map(Window::admitted).toList(), counts.undecided(), counts.failed());
  }

  @Override
  public void close() {
    traffic.close();
  }
}
