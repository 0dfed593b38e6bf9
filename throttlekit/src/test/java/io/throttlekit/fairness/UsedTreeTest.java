package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsedTreeTest {
  private final UsedTree tree = new UsedTree();
  private final List<Long> amounts = new ArrayList<>();

  @ParameterizedTest(name = "amounts below {0}, seed 3")
  @ValueSource(longs = {1, 10, 300, 5_000, 1L << 40})
  void sumsWhatIsUnusedAsAListDoes(long bound) {
    SplittableRandom random = new SplittableRandom(3);
    int deepest = 0;
    for (int i = 0; i < 12_000; i++) {
      boolean grows = i % 6_000 < 4_000;
      if (amounts.isEmpty() || random.nextInt(10) < (grows ? 9 : 1)) {
        add(random.nextLong(bound));
      } else {
        remove(random.nextInt(amounts.size()));
      }
      deepest = Math.max(deepest, tree.depth());
      if (i % 50 == 0) {
        check(random.nextLong(bound + 2));
      }
    }
    while (!amounts.isEmpty()) {
      remove(amounts.size() - 1);
      if (amounts.size() % 50 == 0) {
        check(random.nextLong(bound + 2));
      }
    }
    check(bound);
    assertThat(deepest).isEqualTo(bound <= 10 ? 1 : bound <= 300 ? 2 : 3);
  }

  @Test
  void amountsInAscendingAndDescendingOrder() {
    for (long amount = 0; amount < 3_000; amount++) {
      add(amount);
      add(10_000 - amount);
    }
    for (long guarantee = 0; guarantee <= 10_001; guarantee += 7) {
      check(guarantee);
    }
  }

  @Test
  void amountsThatLeaveInAscendingOrderEmptyTheNodesOfTheLowest() {
    for (long amount = 0; amount < 3_000; amount++) {
      add(amount);
    }
    while (!amounts.isEmpty()) {
      tree.remove(amounts.removeFirst());
      if (amounts.size() % 7 == 0) {
        check(3_000 - amounts.size() / 2);
      }
    }
    check(3_000);
    assertThat(tree.depth()).isEqualTo(1);
  }

  @Test
  void aWindowBeginsWithNothingUsed() {
    add(5);
    tree.reset(3);
    assertThat(tree.unused(4)).isEqualTo(12);
    tree.remove(0);
    tree.add(4);
    assertThat(tree.unused(4)).isEqualTo(8);
    tree.reset(0);
    assertThat(tree.unused(4)).isZero();
  }

  @Test
  void anOperationVisitsAFewNodesOfAHundredThousandAmounts() {
    SplittableRandom random = new SplittableRandom(4);
    for (int i = 0; i < 100_000; i++) {
      tree.add(random.nextLong(1L << 50));
    }
    assertThat(tree.depth()).isLessThanOrEqualTo(5);
  }

  private void add(long amount) {
    amounts.add(amount);
    tree.add(amount);
  }

  private void remove(int at) {
    long amount = amounts.set(at, amounts.getLast());
    amounts.removeLast();
    tree.remove(amount);
  }

  private void check(long guarantee) {
    long expected = amounts.stream().mapToLong(amount -> Math.max(0, guarantee - amount)).sum();
    assertThat(tree.unused(guarantee)).as("of %d", guarantee).isEqualTo(expected);
  }
}
