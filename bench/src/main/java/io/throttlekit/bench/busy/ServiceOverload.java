package io.throttlekit.bench.busy;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Offers a service up to ten times the load that it can decide, from clients with a timeout of
 * {@value TimeoutClients#PATIENCE_MILLIS} ms.
 */
public final class ServiceOverload {
  /** Decisions per second to which the service is throttled. */
  public static final int CAPACITY = 2_000;

  private static final String HEAD =
      """
      | offered/s | answered in time/s | refused as too late/s | lag of the generator p99, ms | most | MB of heap at most | health | slowest probe, ms |
      |---|---|---|---|---|---|---|---|\
      """;

  private ServiceOverload() {}

  /**
   * Measures each load, one after the other, on one service.
   *
   * @param factors multiples of the capacity
   * @param warmUp duration before the measurements
   * @param length of each
   * @param after run after each
   */
  public static List<Offered> measure(
      List<Integer> factors, Duration warmUp, Duration length, Consumer<Offered> after)
      throws InterruptedException {
    List<Offered> all = new ArrayList<>();
    try (ThrottledService service = new ThrottledService(CAPACITY);
        TimeoutClients clients = new TimeoutClients(service.port())) {
      var _ = clients.offer(CAPACITY, warmUp.dividedBy(2));
      var _ = clients.offer(10 * CAPACITY, warmUp.dividedBy(2));
      for (int factor : factors) {
        Offered offered = clients.offer(factor * CAPACITY, length);
        all.add(offered);
        after.accept(offered);
      }
    }
    return all;
  }

  /** Returns answers in time at the last load, as a share of those at the best. */
  public static double kept(List<Offered> all) {
    double best = all.stream().mapToDouble(Offered::inTimePerSecond).max().orElse(1);
    return all.getLast().inTimePerSecond() / best;
  }

  /** Returns the growth of the largest heap from the first to the last load, in MB. */
  public static double heapGrowthMegabytes(List<Offered> all) {
    return (all.getLast().mostHeapBytes() - all.getFirst().mostHeapBytes()) / 1e6;
  }

  /** Prints a Markdown table. */
  public static void print(List<Offered> all, PrintStream out) {
    out.println(HEAD);
    all.forEach(each -> out.println(each.row()));
  }
}
