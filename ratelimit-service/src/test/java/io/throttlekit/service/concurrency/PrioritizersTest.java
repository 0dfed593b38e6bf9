package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Priority;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.service.server.Book;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PrioritizersTest {
  private static final Rule OWN = rule("entry: p");
  private static final Rule SHARED = rule("entry: p, user: u, prioritizer: all");

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final RecordingConcurrencyListener limiterEvents = new RecordingConcurrencyListener();
  private Rule rule = SHARED;

  @Test
  void limitsThatShareAPrioritizerRefuseLowLevelsTogether() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    overload(limiter, "a");
    assertThat(enter(limiter, "b", "very_low", "u").refused).isTrue();
    assertThat(enter(limiter, "b", "high", "u").lease).isNotNull();
    assertThat(limiterEvents.refusals).containsExactly(Refusal.PRIORITY_TOO_LOW);
  }

  @Test
  void idleLimitsDoNotReduceTheRejectionRateOfAFullOne() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    for (int i = 0; i < 9; i++) {
      finish(List.of(enter(limiter, "idle " + i, "high", "u")));
    }
    overload(limiter, "a");
    assertThat(enter(limiter, "b", "very_low", "u").refused).isTrue();
  }

  @Test
  void limitsOfDifferentDomainsShareNoPrioritizer() {
    Prioritizers prioritizers = new Prioritizers(time, limiterEvents);
    PriorityTerms shared = PriorityTerms.of(terms().gate());
    Prioritizer one = Objects.requireNonNull(prioritizers.of("one", shared));
    assertThat(prioritizers.of("one", shared)).isSameAs(one);
    assertThat(prioritizers.of("other", shared)).isNotSameAs(one);
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
  void anEvictedLimitNoLongerShares() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    finish(List.of(enter(limiter, "b", "high", "u")));
    time.advance(ConcurrencyLimits.IDLE_TIME.toMillis());
    limiter.limits().forEach((_, _) -> {});
    finish(overload(limiter, "a"));
    // permits are free, and the level is below the threshold
    assertThat(enter(limiter, "a", "very_low", "u").lease).isNotNull();
    assertThat(limiterEvents.refusals).isEmpty();
  }

  @Test
  void theUsersWithTheHighestUsageGetTheLowestLevels() {
    ConcurrencyLimiter limiter = limiter(SHARED);
    SlotResult light = enter(limiter, "a", "medium", "light");
    SlotResult heavy = enter(limiter, "b", "medium", "heavy");
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
    assertThat(PermitAcquisition.level("medium", "heavy", prioritizer)).isEqualTo(least);
    assertThat(PermitAcquisition.level("7", "heavy", prioritizer)).isEqualTo(7);
  }

  private static Rule rule(String priority) {
    return Book.of(
            """
            domain: d
            descriptors:
              - key: k
                concurrency: {min: 2, max: 2, priority: {%s}, queue: {initial: 1, max: 3}}
            """
                .formatted(priority))
        .rules()
        .getFirst();
  }

  private ConcurrencyLimiter limiter(Rule limited) {
    rule = limited;
    return new ConcurrencyLimiter(time, timer, limiterEvents, () -> 1_500, null, 10, 1_000);
  }

  /** Fills the limit and its queue, and calibrates. */
  private List<SlotResult> overload(ConcurrencyLimiter limiter, String value) {
    List<SlotResult> all = new ArrayList<>();
    for (String level : List.of("100", "100", "100", "300", "150", "399", "50")) {
      all.add(enter(limiter, value, level, "u"));
    }
    time.advance(1_000);
    timer.run();
    return all;
  }

  private static void finish(List<SlotResult> all) {
    for (int round = 0; round < all.size(); round++) { // each round admits waiting requests
      all.stream()
          .map(each -> each.lease)
          .filter(Objects::nonNull)
          .forEach(RequestPermit::cancelled);
    }
  }

  private static void end(ConcurrencyLimiter limiter, SlotResult entered) {
    limiter.permits().streamDone(Objects.requireNonNull(entered.lease).id(), StreamReport.NONE);
  }

  private ConcurrencyRule terms() {
    return Objects.requireNonNull(rule.concurrency());
  }

  private SlotResult enter(ConcurrencyLimiter limiter, String value, String level, String user) {
    SlotResult entered = new SlotResult();
    ReachedLimit request =
        new ReachedLimit(
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
  private static final class SlotResult implements PermitAcquisition.AcquisitionCallback {
    @Nullable RequestPermit lease;
    boolean refused;

    @Override
    public void entered(PermitAcquisition by, @Nullable RequestPermit held) {
      lease = held;
    }

    @Override
    public void refused(PermitAcquisition by) {
      refused = true;
    }
  }
}
