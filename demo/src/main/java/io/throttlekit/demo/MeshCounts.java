package io.throttlekit.demo;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The responses to clients, by region and window of the coordinator's clock. Thread-safe.
 *
 * <p>Requests that span two windows and whose response matches both are counted separately.
 */
final class MeshCounts {
  private final MeshScenario scenario;
  private final Map<Long, Counted> windows = new TreeMap<>();
  private long undecided;
  private long failed;

  MeshCounts(MeshScenario scenario) {
    this.scenario = scenario;
  }

  /** The counts of one window, by index in {@link MeshScenario#REGIONS}. */
  record Window(List<Long> admitted, List<Long> refused) {
    long total() {
      return admitted.stream().mapToLong(Long::longValue).sum();
    }
  }

  synchronized void add(MeshAnswer answer) {
    if (answer.answer() == Answer.FAILED) {
      failed++;
      return;
    }
    long window = answer.window(scenario.windowMillis());
    if (window == MeshAnswer.UNDECIDED) {
      undecided += answer.answer() == Answer.ALLOWED ? 1 : 0;
      return;
    }
    Counted counted = windows.computeIfAbsent(window, _ -> new Counted());
    (answer.answer() == Answer.ALLOWED ? counted.admitted : counted.refused)[answer.region()]++;
  }

  /** Returns the current counts of a window, numbered from the epoch. */
  synchronized Window window(long number) {
    Counted counted = windows.getOrDefault(number, new Counted());
    return new Window(list(counted.admitted), list(counted.refused));
  }

  /** Returns the admitted requests whose window is unknown. */
  synchronized long undecided() {
    return undecided;
  }

  /** Returns the requests that were neither admitted nor refused. */
  synchronized long failed() {
    return failed;
  }

  private static List<Long> list(long[] counted) {
    return Arrays.stream(counted).boxed().toList();
  }

  /** Counters by index in {@link MeshScenario#REGIONS}. */
  private static final class Counted {
    final long[] admitted = new long[MeshScenario.REGIONS.size()];
    final long[] refused = new long[MeshScenario.REGIONS.size()];
  }
}
