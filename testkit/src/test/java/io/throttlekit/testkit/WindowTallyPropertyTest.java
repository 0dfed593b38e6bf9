package io.throttlekit.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Compares with every assignment of requests to windows. */
class WindowTallyPropertyTest {
  private static final long SEED = 20_261_122;
  private static final int HISTORIES = 4_000;
  private static final long WINDOW_MILLIS = 10;
  private static final int WINDOWS = 4;
  private static final int MAX_REQUESTS = 7;

  /** A request that was admitted, with the times of request and answer. */
  private record Admitted(long sentMillis, long answeredMillis) {
    int first() {
      return Math.toIntExact(sentMillis / WINDOW_MILLIS);
    }

    int last() {
      return Math.toIntExact(answeredMillis / WINDOW_MILLIS);
    }
  }

  @Test
  void overshootIsZeroExactlyWhenEachRequestFitsIntoAWindow() {
    RandomGenerator random = new SplittableRandom(SEED);
    int[] seen = new int[2];
    for (int history = 0; history < HISTORIES; history++) {
      List<Admitted> admitted = history(random);
      int[] limits = random.ints(WINDOWS, 1, 4).toArray();
      boolean fits = fits(admitted, limits, 0);
      assertThat(tally(admitted).overshoot(0, end -> limits[index(end)]) == 0)
          .as("seed %d, history %d, limits %s: %s", SEED, history, list(limits), admitted)
          .isEqualTo(fits);
      int limit = limits[0];
      Arrays.fill(limits, limit);
      assertThat(tally(admitted).overshoot(limit) == 0)
          .as("seed %d, history %d, limit %d: %s", SEED, history, limit, admitted)
          .isEqualTo(fits(admitted, limits, 0));
      seen[fits ? 1 : 0]++;
    }
    assertThat(seen[0]).as("histories beyond their limit").isGreaterThan(HISTORIES / 10);
    assertThat(seen[1]).as("histories within it").isGreaterThan(HISTORIES / 10);
  }

  @Test
  void asManyWindowsMayBeFullAsRequestsCanFill() {
    RandomGenerator random = new SplittableRandom(SEED + 1);
    int straddled = 0;
    for (int history = 0; history < HISTORIES; history++) {
      List<Admitted> admitted = history(random);
      for (WindowTally.Window window : tally(admitted).windows()) {
        long index = window.endMillis() / WINDOW_MILLIS - 1;
        long surely =
            admitted.stream().filter(a -> a.first() == index && a.last() == index).count();
        long maybe = admitted.stream().filter(a -> a.first() <= index && a.last() >= index).count();
        assertThat(window.units()).as("seed %d: %s", SEED + 1, admitted).isEqualTo(surely);
        assertThat(window.straddling()).isEqualTo(maybe - surely);
        assertThat(window.mayHave(maybe)).isTrue();
        assertThat(window.isAtLeast(maybe + 1)).isFalse();
        straddled += maybe > surely ? 1 : 0;
      }
    }
    assertThat(straddled).isGreaterThan(HISTORIES / 10);
  }

  private static List<Admitted> history(RandomGenerator random) {
    List<Admitted> admitted = new ArrayList<>();
    for (int i = random.nextInt(MAX_REQUESTS + 1); i > 0; i--) {
      long asked = random.nextLong(WINDOWS * WINDOW_MILLIS);
      long longest = WINDOWS * WINDOW_MILLIS - 1 - asked;
      long took = random.nextBoolean() ? 0 : random.nextLong(longest + 1);
      admitted.add(new Admitted(asked, asked + took));
    }
    return admitted;
  }

  private static WindowTally tally(List<Admitted> admitted) {
    WindowTally tally = new WindowTally(WINDOW_MILLIS, 1);
    admitted.forEach(each -> tally.admitted(0, each.sentMillis, each.answeredMillis));
    return tally;
  }

  private static int index(long endMillis) {
    return Math.toIntExact(endMillis / WINDOW_MILLIS) - 1;
  }

  private static List<Integer> list(int[] limits) {
    return Arrays.stream(limits).boxed().toList();
  }

  /**
   * Whether the requests from {@code next} on find places, tried one by one.
   *
   * @param places that windows have left
   */
  private static boolean fits(List<Admitted> admitted, int[] places, int next) {
    if (next == admitted.size()) {
      return true;
    }
    Admitted request = admitted.get(next);
    for (int window = request.first(); window <= request.last(); window++) {
      if (places[window] > 0) {
        places[window]--;
        boolean rest = fits(admitted, places, next + 1);
        places[window]++;
        if (rest) {
          return true;
        }
      }
    }
    return false;
  }
}
