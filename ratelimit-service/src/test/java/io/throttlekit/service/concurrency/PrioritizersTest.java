package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Priority;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.service.server.Book;
import io.throttlekit.tier.ManualTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PrioritizersTest {
  private static final String POLICY =
      """
      domain: d
      descriptors:
        - key: k
          concurrency: {min: 2, max: 2, priority: {entry: p}, queue: {initial: 1, max: 3}}
      """;
  private static final PriorityTerms OWN = new PriorityTerms("p", null, null);
  private static final PriorityTerms SHARED = new PriorityTerms("p", "u", "all");

  private final ManualTime time = new ManualTime(0);
  private final ManualTimer timer = new ManualTimer(time);
  private final Gated gated = new Gated();
  private final Rule rule = Book.of(POLICY).rules().getFirst();

  @Test
  void limitsThatShareAPrioritizerRefuseLowLevelsTogether() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    overload(limiter, "a");
    assertThat(enter(limiter, "b", "very_low", "u").refused).isTrue();
    assertThat(enter(limiter, "b", "high", "u").lease).isNotNull();
    assertThat(gated.refusals).containsExactly(Refusal.PRIORITY_TOO_LOW);
  }

  @Test
  void idleLimitsThatShareAPrioritizerDoNotRelieveAFullOne() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    for (int i = 0; i < 9; i++) {
      finish(List.of(enter(limiter, "idle " + i, "high", "u")));
    }
    overload(limiter, "a");
    assertThat(enter(limiter, "b", "very_low", "u").refused).isTrue();
  }

  @Test
  void limitsOfDifferentDomainsShareNoPrioritizer() {
    Prioritizers prioritizers = new Prioritizers(time, gated);
    Prioritizer one = prioritizers.of("one", SHARED);
    assertThat(prioritizers.of("one", SHARED)).isSameAs(one);
    assertThat(prioritizers.of("other", SHARED)).isNotSameAs(one);
    assertThat(one.threshold()).isZero(); // and keeps it reachable until here
  }

  @Test
  void aLimitWithAPrioritizerOfItsOwnIgnoresTheOverloadOfOthers() {
    ConcurrencyLimiter limiter = limiter(OWN);
    overload(limiter, "a");
    assertThat(enter(limiter, "b", "very_low", "u").lease).isNotNull();
  }

  @Test
  void aSharedPrioritizerRecoversAfterTheOverloadWithoutFurtherRequests() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    finish(overload(limiter, "a"));
    time.advance(1_000);
    timer.run();
    assertThat(enter(limiter, "b", "very_low", "u").lease).isNotNull();
  }

  @Test
  void aLimitThatWasForgottenNoLongerShares() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    finish(List.of(enter(limiter, "b", "high", "u")));
    time.advance(ConcurrencyLimits.IDLE_TIME.toMillis());
    limiter.limits().forEach((_, _) -> {});
    finish(overload(limiter, "a"));
    // permits are free, and the level is below the threshold
    assertThat(enter(limiter, "a", "very_low", "u").lease).isNotNull();
    assertThat(gated.refusals).isEmpty();
  }

  @Test
  void theUsersWithTheHighestUsageGetTheLowestLevels() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    Entered light = enter(limiter, "a", "medium", "light");
    Entered heavy = enter(limiter, "b", "medium", "heavy");
    time.advance(1);
    end(limiter, light);
    time.advance(500);
    end(limiter, heavy);
    time.advance(499);
    timer.run();
    Prioritizer prioritizer =
        Objects.requireNonNull(
            limiter.limits().pin(rule, terms(), new String[] {"k", "a"}).prioritizer());
    int least = prioritizer.level(Priority.MEDIUM, "heavy");
    assertThat(least).isLessThan(prioritizer.level(Priority.MEDIUM, "light"));
    assertThat(SlotAcquisition.level("medium", "heavy", prioritizer)).isEqualTo(least);
    assertThat(SlotAcquisition.level("7", "heavy", prioritizer)).isEqualTo(7);
  }

  private ConcurrencyLimiter limiter(PriorityTerms priorities) {
    return new ConcurrencyLimiter(time, timer, gated, () -> 1_500, _ -> priorities, 10, 1_000);
  }

  /** Fills the limit and its queue, and calibrates. */
  private List<Entered> overload(ConcurrencyLimiter limiter, String value) {
    List<Entered> all = new ArrayList<>();
    for (String level : List.of("100", "100", "100", "300", "150", "399", "50")) {
      all.add(enter(limiter, value, level, "u"));
    }
    time.advance(1_000);
    timer.run();
    return all;
  }

  private static void finish(List<Entered> all) {
    for (int round = 0; round < all.size(); round++) { // each round admits waiting requests
      all.stream().map(each -> each.lease).filter(Objects::nonNull).forEach(Lease::cancelled);
    }
  }

  private static void end(ConcurrencyLimiter limiter, Entered entered) {
    limiter.leases().end(Objects.requireNonNull(entered.lease).id(), LeaseEnd.STREAM_DONE);
  }

  private ConcurrencyRule terms() {
    return Objects.requireNonNull(rule.concurrency());
  }

  private Entered enter(ConcurrencyLimiter limiter, String value, String level, String user) {
    Entered entered = new Entered();
    SlotRequest request =
        new SlotRequest(
            rule,
            terms(),
            (ConcurrencyRule.AtService) terms().gate(),
            new String[] {"k", value, "p", level, "u", user},
            false,
            true);
    var _ = limiter.enter(List.of(request), Long.MAX_VALUE, entered);
    return entered;
  }

  /** The result of a request. */
  private static final class Entered implements SlotAcquisition.SlotCallback {
    @Nullable Lease lease;
    boolean refused;

    @Override
    public void entered(SlotAcquisition by, @Nullable Lease held) {
      lease = held;
    }

    @Override
    public void refused(SlotAcquisition by) {
      refused = true;
    }
  }
}
