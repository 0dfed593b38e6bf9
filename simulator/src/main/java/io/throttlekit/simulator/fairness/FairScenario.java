package io.throttlekit.simulator.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Tenants of one limit, and what they ask for.
 *
 * @param limit units per window
 * @param windowMillis length of a window
 * @param windows number of windows
 */
record FairScenario(
    String name,
    String title,
    long limit,
    long windowMillis,
    int windows,
    List<TenantLoad> tenants) {
  private static final long SECOND = 1_000;
  private static final long LIMIT = 700;
  private static final int WINDOWS = 30;

  /** Copies the list. */
  FairScenario {
    tenants = List.copyOf(tenants);
  }

  /**
   * Returns the scenarios of the report: a tenant floods, and another one is absent and comes back
   * in the middle of a window, or at the beginning of one.
   */
  static List<FairScenario> all() {
    return List.of(
        sameWindow(),
        nextWindow(),
        returning(
            "light-silver",
            "the same, and silver asks for half of its guarantee",
            SECOND,
            15 * SECOND,
            100),
        late(),
        published());
  }

  /** A tenant comes back in the middle of a window. */
  static FairScenario sameWindow() {
    return returning(
        "same-window",
        "gold comes back in the middle of a window, after 15.5 s",
        SECOND,
        15 * SECOND + SECOND / 2,
        1_000);
  }

  /** A tenant comes back at the beginning of a window. */
  static FairScenario nextWindow() {
    return returning(
        "next-window",
        "gold comes back at the beginning of a window, after 15 s",
        SECOND,
        15 * SECOND,
        1_000);
  }

  /** The same at a tenth of the speed, in windows of 10 s. */
  static FairScenario slowly() {
    return returning(
        "slowly",
        "gold comes back at the beginning of a window, after 150 s",
        10 * SECOND,
        150 * SECOND,
        1_000);
  }

  /**
   * Returns a scenario in which bronze floods, and gold is absent.
   *
   * @param backMillis when gold comes back
   * @param ofSilver requests of silver per window
   */
  private static FairScenario returning(
      String name, String title, long windowMillis, long backMillis, double ofSilver) {
    double windowsPerSecond = (double) SECOND / windowMillis;
    long end = WINDOWS * windowMillis;
    // Gold leaves shortly before a window ends, so that none of its calls crosses the boundary.
    long leaves = 6 * windowMillis - windowMillis / 20;
    double ofGold = 450 * windowsPerSecond;
    TenantLoad gold =
        new TenantLoad(
            "gold, 4",
            4,
            List.of(new Demand(0, leaves, ofGold), new Demand(backMillis, end, ofGold)));
    TenantLoad silver = TenantLoad.of("silver, 2", 2, 0, end, ofSilver * windowsPerSecond);
    double ofBronze = 80 * windowsPerSecond;
    TenantLoad bronze =
        new TenantLoad(
            "bronze, 1",
            1,
            List.of(
                new Demand(0, 3 * windowMillis, ofBronze),
                new Demand(3 * windowMillis, 25 * windowMillis, 3_500 * windowsPerSecond), // floods
                new Demand(25 * windowMillis, end, ofBronze)));
    return new FairScenario(
        name, title, LIMIT, windowMillis, WINDOWS, List.of(gold, silver, bronze));
  }

  /** A flood from the beginning of each window, and a tenant that asks in its second half. */
  private static FairScenario late() {
    List<Demand> gold = new ArrayList<>();
    for (int window = 0; window < WINDOWS; window++) {
      gold.add(new Demand(window * SECOND + SECOND / 2, (window + 1) * SECOND, 1_000));
    }
    return new FairScenario(
        "second-half",
        "gold asks in the second half of each window",
        LIMIT,
        SECOND,
        WINDOWS,
        List.of(
            new TenantLoad("gold, 4", 4, gold),
            TenantLoad.of("silver, 2", 2, 0, WINDOWS * SECOND, 1_000),
            TenantLoad.of("bronze, 1", 1, 0, WINDOWS * SECOND, 3_500)));
  }

  /** Four tenants of weights 4, 1, 1 and 1, of which the first is idle in every fifth window. */
  private static FairScenario published() {
    int windows = 400;
    List<Demand> heavy = new ArrayList<>();
    for (int window = 0; window < windows; window++) {
      if (window % 5 != 4) {
        heavy.add(new Demand(window * SECOND, (window + 1) * SECOND, 140));
      }
    }
    List<TenantLoad> tenants = new ArrayList<>();
    tenants.add(new TenantLoad("heavy, 4", 4, heavy));
    IntStream.rangeClosed(1, 3)
        .forEach(i -> tenants.add(TenantLoad.of("light " + i, 1, 0, windows * SECOND, 140)));
    return new FairScenario(
        "idle-every-fifth",
        "one of four is idle in every fifth window",
        70,
        SECOND,
        windows,
        tenants);
  }
}
