package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Nodes that each may admit a budget of their own, without a message to the others, cannot keep to
 * a limit and also use it: every choice of budgets is tried with every demand.
 *
 * <p>Overshoot is the most that is admitted beyond the limit. Shortfall is the most that is refused
 * of a demand within the limit. What a node admits is the smaller of its demand and its budget.
 */
class TrilemmaTest {

  /** Worst overshoot and shortfall over all demands. */
  private record Worst(long overshoot, long shortfall) {}

  @ParameterizedTest(name = "{0} nodes, limit {1}")
  @CsvSource({"2, 2, 2", "2, 4, 4", "2, 6, 6", "3, 3, 6", "3, 6, 12", "4, 4, 12"})
  void budgetsWithoutMessagesExceedTheLimitOrLeaveItUnused(int nodes, int limit, long least) {
    long[] smallest = {Long.MAX_VALUE};
    each(
        nodes,
        limit,
        budgets -> {
          Worst worst = worst(budgets, limit, 0, 0);
          long sum = Arrays.stream(budgets).sum();
          int min = Arrays.stream(budgets).min().orElseThrow();
          assertThat(worst).isEqualTo(new Worst(Math.max(0, sum - limit), limit - min));
          long cost = worst.overshoot() + nodes * worst.shortfall();
          assertThat(cost).isGreaterThanOrEqualTo((nodes - 1L) * limit);
          smallest[0] = Math.min(smallest[0], cost);
        });
    int[] equal = IntStream.generate(() -> limit / nodes).limit(nodes).toArray();
    assertThat(worst(equal, limit, 0, 0))
        .isEqualTo(new Worst(0, limit - limit / nodes)); // the bound is reached
    assertThat(smallest[0]).isEqualTo(least).isEqualTo((nodes - 1L) * limit);
  }

  /** A link between two nodes pools their budgets; m links leave N − m pools. */
  @ParameterizedTest(name = "4 nodes, {0} links, limit {1}")
  @CsvSource({"0, 4, 12", "1, 6, 12", "2, 6, 6", "3, 6, 0"})
  void eachLinkBetweenNodesLowersTheBoundByOneLimit(int links, int limit, long least) {
    int pools = 4 - links;
    long[] smallest = {Long.MAX_VALUE};
    each(
        pools,
        limit,
        budgets -> {
          Worst worst = worst(budgets, limit, 0, 0);
          smallest[0] = Math.min(smallest[0], worst.overshoot() + pools * worst.shortfall());
        });
    assertThat(smallest[0]).isEqualTo(least).isEqualTo((4L - links - 1) * limit);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, {2} messages of {3} units")
  @CsvSource({
    "2, 4, 0, 1, 4",
    "2, 4, 2, 1, 2",
    "2, 4, 4, 1, 0",
    "2, 6, 2, 2, 2",
    "2, 6, 1, 2, 4",
    "3, 4, 1, 1, 6",
    "3, 5, 2, 1, 6",
    "3, 5, 1, 2, 6",
  })
  void eachMessageLowersTheBoundByItsUnitsOnceForEachOtherNode(
      int nodes, int limit, int messages, int batch, long least) {
    long[] smallest = {Long.MAX_VALUE};
    each(
        nodes,
        limit,
        budgets -> {
          Worst worst = worst(budgets, limit, messages, batch);
          long more = (long) messages * batch;
          long sum = Arrays.stream(budgets).sum();
          int min = Arrays.stream(budgets).min().orElseThrow();
          assertThat(worst)
              .isEqualTo(
                  new Worst(Math.max(0, sum + more - limit), Math.max(0, limit - min - more)));
          smallest[0] = Math.min(smallest[0], worst.overshoot() + nodes * worst.shortfall());
        });
    assertThat(smallest[0])
        .isEqualTo(least)
        .isEqualTo((nodes - 1L) * (limit - (long) messages * batch));
  }

  private static Worst worst(int[] budgets, int limit, int messages, int batch) {
    long[] worst = new long[2];
    each(
        budgets.length,
        limit + messages * batch,
        demands -> {
          long admitted = admitted(budgets, demands, 0, messages, batch);
          long demanded = Arrays.stream(demands).sum();
          worst[0] = Math.max(worst[0], admitted - limit);
          if (demanded <= limit) {
            worst[1] = Math.max(worst[1], demanded - admitted);
          }
        });
    return new Worst(worst[0], worst[1]);
  }

  /** The most that nodes from {@code at} on can admit, each with some of the messages. */
  private static long admitted(int[] budgets, int[] demands, int at, int messages, int batch) {
    if (at == budgets.length) {
      return 0;
    }
    long most = 0;
    for (int own = 0; own <= messages; own++) {
      long here = Math.min(demands[at], budgets[at] + own * batch);
      most = Math.max(most, here + admitted(budgets, demands, at + 1, messages - own, batch));
    }
    return most;
  }

  /** Visits all lists of so many numbers from 0 to {@code max}. */
  private static void each(int size, int max, Consumer<int[]> visitor) {
    int[] numbers = new int[size];
    while (true) {
      visitor.accept(numbers.clone());
      int at = 0;
      while (at < size && numbers[at] == max) {
        numbers[at++] = 0;
      }
      if (at == size) {
        return;
      }
      numbers[at]++;
    }
  }
}
