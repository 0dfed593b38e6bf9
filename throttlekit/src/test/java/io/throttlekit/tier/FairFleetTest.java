package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Terms;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tenants that share a limit over three processes or three regions, at three times the limit: some
 * send ten times as much as others, and each sends most of it to one process.
 */
class FairFleetTest {
  private static final long WINDOW = 2_000;
  private static final long LIMIT = 300;
  private static final long QUANTUM = 8;
  private static final int NODES = 3;
  private static final int WINDOWS = 5;
  private static final int SEEDS = 15;
  private static final int LOAD = 3;
  private static final int SKEW = 10;

  /**
   * Around the end of a window, either may be current, and a cost is taken from both: no requests
   * then, so that each is counted in one.
   */
  private static final long BETWEEN_WINDOWS = 10;

  private final ManualTime time = new ManualTime(1_700_000_000_000L);
  private final FairRule rule = FairRule.of(LIMIT, WINDOW);
  private final List<Node> nodes = new ArrayList<>();
  private final List<ManualScheduler> timers = new ArrayList<>();

  /** A request of a tenant to a node, ms after the beginning of its window. */
  private record Request(long atMillis, int tenant, int node) {}

  @ParameterizedTest
  @ValueSource(longs = {0, 3})
  void inThreeProcessesEachTenantHasItsGuaranteeLessOneQuantumForEach(long lowWater) {
    Tier tier = new Tier.Leased(new LeaseSize.Fixed(QUANTUM), true, lowWater, WINDOW / 4);
    for (int seed = 1; seed <= SEEDS; seed++) {
      processes();
      check(tier, NODES * (QUANTUM + lowWater), new SplittableRandom(seed), "seed " + seed);
    }
  }

  static List<Tier> exact() {
    return List.of(new Tier.Strict(), new Tier.CachedDeny());
  }

  @ParameterizedTest
  @MethodSource("exact")
  void whereTheStoreAdmitsEachTenantHasItsGuarantee(Tier tier) {
    for (int seed = 1; seed <= SEEDS; seed++) {
      processes();
      check(tier, 0, new SplittableRandom(seed), "seed " + seed);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void inThreeRegionsEachTenantHasItsGuaranteeLessOneQuantumForEach(boolean escrows) {
    int held = escrows ? 2 : 1; // a region's escrow holds another one
    for (int seed = 1; seed <= SEEDS; seed++) {
      regions(escrows);
      check(global(QUANTUM), NODES * QUANTUM * held, new SplittableRandom(seed), "seed " + seed);
    }
  }

  @Test
  void aRegionThatComesLateHasWhatAnIdleOneReturned() {
    regions(true);
    FairTenant early = rule.tenant("early", 1);
    FairTenant late = rule.tenant("late", 1);
    Tier tier = global(LIMIT);
    assertThat(node(0).admitted(10, rule.claim(tier, early, 1))).isEqualTo(10);
    assertThat(node(1).admitted(10, rule.claim(tier, late, 1))).as("all is leased").isZero();
    pass(WINDOW / 4 + 10); // the sweep comes once a second
    assertThat(node(0).counted.unitsReturned).isEqualTo(LIMIT - 10);
    assertThat(node(1).admitted(LOAD * (int) LIMIT, rule.claim(tier, late, 1)))
        .as("its guarantee")
        .isEqualTo(LIMIT / 2);
    assertThat(node(2).admitted(LOAD * (int) LIMIT, rule.claim(tier, early, 1)))
        .as("the rest of the other one's, in another region")
        .isEqualTo(LIMIT / 2 - 10);
  }

  private void check(Tier tier, long quanta, SplittableRandom random, String seed) {
    long[] weights = random.longs(random.nextInt(3, 7), 1, 5).toArray();
    long[] demand = demand(random, weights.length);
    long all = Arrays.stream(weights).sum();
    pass(WINDOW - Math.floorMod(time.wallMillis(), WINDOW));
    for (int window = 0; window < WINDOWS; window++) {
      long[] wanted = demand.clone();
      for (int tenant = 0; tenant < wanted.length; tenant++) {
        wanted[tenant] = random.nextInt(4) == 0 ? random.nextLong(1, 9) : wanted[tenant];
      }
      long[] admitted = run(tier, weights, requests(random, wanted));
      assertThat(Arrays.stream(admitted).sum())
          .as("%s window %d", seed, window)
          .isLessThanOrEqualTo(LIMIT);
      for (int tenant = 0; window > 0 && tenant < wanted.length; tenant++) {
        long guarantee = Math.min(wanted[tenant], weights[tenant] * LIMIT / all);
        assertThat(admitted[tenant])
            .as(
                "%s window %d tenant %d of %s, wanted %s",
                seed, window, tenant, Arrays.toString(weights), Arrays.toString(wanted))
            .isGreaterThanOrEqualTo(guarantee - quanta);
      }
    }
  }

  /** Returns the requests of each tenant in a window, some ten times as many as others. */
  private static long[] demand(SplittableRandom random, int tenants) {
    long[] parts = new long[tenants];
    for (int tenant = 0; tenant < tenants; tenant++) {
      parts[tenant] = tenant == 0 || random.nextInt(3) == 0 ? SKEW : 1;
    }
    long all = Arrays.stream(parts).sum();
    return Arrays.stream(parts).map(part -> LOAD * LIMIT * part / all).toArray();
  }

  private static List<Request> requests(SplittableRandom random, long[] wanted) {
    List<Request> requests = new ArrayList<>();
    for (int tenant = 0; tenant < wanted.length; tenant++) {
      long from = random.nextInt(4) == 0 ? WINDOW / 2 : BETWEEN_WINDOWS; // some come late
      for (long i = 0; i < wanted[tenant]; i++) {
        boolean home = random.nextInt(SKEW) > 0;
        int node = home ? tenant % NODES : random.nextInt(NODES);
        long at = random.nextLong(from, WINDOW - BETWEEN_WINDOWS);
        requests.add(new Request(at, tenant, node));
      }
    }
    requests.sort(Comparator.comparingLong(Request::atMillis));
    return requests;
  }

  /** Returns the admitted requests of each tenant. */
  private long[] run(Tier tier, long[] weights, List<Request> requests) {
    long[] admitted = new long[weights.length];
    long begin = time.wallMillis();
    for (Request request : requests) {
      pass(begin + request.atMillis() - time.wallMillis());
      int tenant = request.tenant();
      TieredClaim claim = rule.claim(tier, rule.tenant(tenant, weights[tenant]), 1);
      admitted[tenant] += node(request.node()).ask(claim).admitted() ? 1 : 0;
    }
    pass(begin + WINDOW - time.wallMillis());
    return admitted;
  }

  private void pass(long millis) {
    for (long i = 0; i < millis; i++) {
      time.advance(1);
      timers.forEach(ManualScheduler::run);
    }
  }

  private Node node(int index) {
    return nodes.get(index);
  }

  private void processes() {
    clear();
    InMemoryStore store = new InMemoryStore(time, 1_000);
    for (int n = 0; n < NODES; n++) {
      add(new Node(store, time, 1_000));
    }
  }

  private void regions(boolean escrows) {
    clear();
    InMemoryCoordinator coordinator = new InMemoryCoordinator(time);
    for (int n = 0; n < NODES; n++) {
      ManualScheduler timer = new ManualScheduler(time);
      timers.add(timer);
      Federation federation =
          new Federation(
              coordinator,
              escrows ? new InMemoryEscrow(time) : null,
              new Clocks(time, timer),
              new FederationSettings("r" + n, "n" + n, escrows ? 2 : 1, 1_000),
              new FederationListener() {});
      add(new Node(new InMemoryStore(time, 1), federation, time, 1_000));
    }
  }

  private void add(Node node) {
    nodes.add(node);
    timers.add(node.timer);
  }

  private void clear() {
    nodes.clear();
    timers.clear();
  }

  private Tier global(long size) {
    Terms terms = new Terms("shop", List.of(rule.window()));
    return new Tier.Global(new LeaseSize.Fixed(size), 0, WINDOW / 4, terms, DataLoss.REFILL, false);
  }
}
