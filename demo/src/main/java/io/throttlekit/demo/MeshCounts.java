package io.throttlekit.demo;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What clients were answered, by region and window of the coordinator's clock. Thread-safe.
 *
 * <p>A request that two windows had a part in, and whose answer does not tell which of them it was
 * decided in, is counted apart.
 */
final class MeshCounts {
  private final MeshScenario scenario;
  private final Map<Long, Counted> windows = new TreeMap<>();
  private long undecided;
  private long failed;

  MeshCounts(MeshScenario scenario) {
    this.scenario = scenario;
  }

  /** What one window brought; by place in {@link MeshScenario#REGIONS}. */
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

  /** What a window brought until now, numbered from the epoch. */
  synchronized Window window(long number) {
    Counted counted = windows.getOrDefault(number, new Counted());
    return new Window(list(counted.admitted), list(counted.refused));
  }

  /** Admitted, and nobody can say in which window. */
  synchronized long undecided() {
    return undecided;
  }

  /** Neither admitted nor refused. */
  synchronized long failed() {
    return failed;
  }

  private static List<Long> list(long[] counted) {
    return Arrays.stream(counted).boxed().toList();
  }

  /** By place in {@link MeshScenario#REGIONS}. */
  private static final class Counted {
    final long[] admitted = new long[MeshScenario.REGIONS.size()];
    final long[] refused = new long[MeshScenario.REGIONS.size()];
  }
}
