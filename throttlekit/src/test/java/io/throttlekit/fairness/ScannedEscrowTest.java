package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The escrow decides as a scan over all tenants does, in random histories of weights, costs,
 * windows that begin and are skipped, refunds, resets and evictions.
 */
class ScannedEscrowTest {
  private static final int HISTORIES = 1_000;
  private static final int EVENTS = 120;
  private static final long WINDOW = 1_000;
  private static final long SEED = 26;
  private static final List<Overrun> OVERRUNS = List.of(Overrun.values());

  private final SplittableRandom random = new SplittableRandom(SEED);
  private int admitted;
  private int refused;
  private int lent;
  private int capped;
  private int shielded;
  private int evicted;
  private int carried;

  @Test
  void decidesAsTheScanInRandomHistoriesOfSeed26() {
    for (int i = 0; i < HISTORIES; i++) {
      History history = new History(terms());
      for (int event = 0; event < EVENTS; event++) {
        history.next();
      }
      history.count();
    }
    assertThat(admitted).isGreaterThan(HISTORIES * 20);
    assertThat(refused).isGreaterThan(HISTORIES * 10);
    assertThat(lent).isGreaterThan(HISTORIES);
    assertThat(capped).isGreaterThan(HISTORIES);
    assertThat(shielded).isGreaterThan(HISTORIES);
    assertThat(evicted).isGreaterThan(HISTORIES);
    assertThat(carried).isGreaterThan(HISTORIES);
  }

  private FairTerms terms() {
    long parts = random.nextInt(3) == 0 ? random.nextLong(1, 1_001) : 1;
    long limit = random.nextLong(0, 1L << random.nextInt(1, 50)) / parts;
    if (random.nextInt(20) == 0) {
      limit = Cost.MAX / parts;
    }
    int unlisted = random.nextInt(FairTerms.ALL + 1);
    int tenants = random.nextInt(4) == 0 ? random.nextInt(1, 6) : 100;
    return new FairTerms(limit, WINDOW, parts, unlisted, tenants);
  }

  /** The real one and the scan, side by side. */
  private final class History {
    private final FairTerms terms;
    private final WeightedFairEscrow real;
    private final ScannedEscrow scan;
    private final CounterKey[] keys = Keys.tenants(random.nextInt(1, 13));
    private final int scale = random.nextInt(0, 38);
    private final int weights = random.nextInt(1, 5);
    private final boolean sameWeights = random.nextBoolean();
    private final int unlistedOf = random.nextInt(1, 5);
    private long now = random.nextLong(0, 1L << 40);

    History(FairTerms terms) {
      this.terms = terms;
      this.real = new WeightedFairEscrow(terms);
      this.scan = new ScannedEscrow(terms);
    }

    void next() {
      int kind = random.nextInt(100);
      CounterKey key = keys[random.nextInt(keys.length)];
      if (kind < 4) {
        now += random.nextLong(0, random.nextInt(3) == 0 ? 3 * WINDOW : WINDOW);
      } else if (kind < 6) {
        now -= random.nextLong(0, WINDOW); // a clock that steps back
      }
      long end = end();
      scan.roll(end / WINDOW);
      if (kind < 7) {
        real.reset(key);
        scan.reset(key);
      } else if (kind == 7 && random.nextInt(4) == 0) {
        real.reset();
        scan.reset();
      } else if (kind < 13) {
        long parts = cost();
        real.refund(key, parts, end, now);
        scan.refund(key, parts);
      } else {
        request(key, end);
      }
      FairFigures figures = real.figures(now);
      assertThat(figures.used()).isEqualTo(scan.used());
      assertThat(figures.reserved()).isEqualTo(scan.reserved());
      assertThat(figures.listed() + figures.unlisted()).isEqualTo(scan.active());
      assertThat(figures.evicted()).isEqualTo(scan.evicted);
      assertThat(figures.borrowed()).isEqualTo(scan.borrowed);
      assertThat(figures.refused()).isEqualTo(scan.refused);
    }

    private void request(CounterKey key, long end) {
      TenantWeight weight = weight(key);
      long cost = cost();
      Overrun overrun =
          random.nextInt(30) == 0 ? OVERRUNS.get(random.nextInt(OVERRUNS.size())) : Overrun.REFUSE;
      TenantState before = real.peek(key, weight, now);
      FairDecision expected = scan.charge(key, weight, cost, overrun, (end - now), end);
      assertThat(real.charge(key, weight, cost, overrun, now)).isEqualTo(expected);
      admitted += expected.admitted() ? 1 : 0;
      refused += expected.admitted() ? 0 : 1;
      if (scan.evicted == 0 && cost > 0) { // else a newcomer has evicted another one
        assertThat(before.guarantee()).isEqualTo(expected.guarantee());
        assertThat(cost <= before.available()).isEqualTo(expected.admitted());
      }
    }

    private TenantWeight weight(CounterKey key) {
      int of = sameWeights ? (key.toString().hashCode() & 0xFF) : random.nextInt(0x100);
      long value = 1 + (of % weights) * (1L << scale) + (sameWeights ? 0 : random.nextInt(2));
      return new TenantWeight(value, of % unlistedOf != 1);
    }

    private long cost() {
      long most = Math.max(2, terms.limitParts() / random.nextInt(1, 20));
      return random.nextInt(50) == 0 ? 0 : random.nextLong(1, Math.min(Cost.MAX, most + 2));
    }

    /** Returns the end of the newest window seen. */
    private long end() {
      long of = now - Math.floorMod(now, WINDOW) + WINDOW;
      newest = Math.max(newest, of);
      return newest;
    }

    private long newest;

    void count() {
      lent += scan.lent;
      capped += scan.capped;
      shielded += scan.shielded;
      evicted += (int) scan.evicted;
      carried += scan.active();
    }
  }
}
