package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what a process admits by itself while the store does not answer. */
class LocalShareTest {
  private static final long WINDOW = 10_000;

  private final LocalShare half = new LocalShare(0.5);

  @Test
  void everyLimitIsScaledAndRoundedDown() {
    assertThat(of(new FixedWindow(5, WINDOW))).isEqualTo(new FixedWindow(2, WINDOW));
    assertThat(of(new SlidingWindow(5, WINDOW, 4))).isEqualTo(new SlidingWindow(2, WINDOW, 4));
    assertThat(of(new SlidingLog(5, WINDOW))).isEqualTo(new SlidingLog(2, WINDOW));
    assertThat(of(new Gcra(5, WINDOW, 9))).isEqualTo(new Gcra(2, WINDOW, 4));
    assertThat(of(new TokenBucket(5, WINDOW, 9))).isEqualTo(new TokenBucket(2, WINDOW, 4));
  }

  @Test
  void aLimitOfWhichAPartRoundsTo0RefusesEverything() {
    assertThat(of(new FixedWindow(1, WINDOW))).isEqualTo(new FixedWindow(0, WINDOW));
    assertThat(of(new Gcra(1, WINDOW, 9))).isEqualTo(new Gcra(0, WINDOW, 0));
    assertThat(of(new Gcra(9, WINDOW, 1))).isEqualTo(new Gcra(0, WINDOW, 0));
    assertThat(of(new TokenBucket(1, WINDOW, 9))).isEqualTo(new TokenBucket(0, WINDOW, 0));
    assertThat(of(new TokenBucket(9, WINDOW, 1))).isEqualTo(new TokenBucket(0, WINDOW, 0));
  }

  @Test
  void tenantsShareTheFraction() {
    FairRule rule = FairRule.of(101, WINDOW);
    Charge charge = rule.charge(rule.tenant("a", 3), 1);
    Claim claim = new Claim(Role.ENFORCED, List.of(charge), DataLoss.REFILL);
    FairRule expected = FairRule.of(50, WINDOW);
    assertThat(half.of(claim).charges())
        .containsExactly(expected.charge(expected.tenant("a", 3), 1));
  }

  private RateAlgorithm<?> of(RateAlgorithm<?> whole) {
    Charge charge = new Charge(Node.key("user"), whole, 1, Overrun.REFUSE);
    return half.of(new Claim(Role.ENFORCED, List.of(charge), DataLoss.REFILL))
        .charges()
        .getFirst()
        .algorithm();
  }
}
