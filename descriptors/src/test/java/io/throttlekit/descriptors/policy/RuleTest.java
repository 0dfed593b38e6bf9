package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.book;
import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingWindow;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RuleTest {

  @Test
  void joinsItsPathOnlyOnce() {
    Rule rule = book("d", key("a").value("1").of(key("b").limit(1).of())).rules().getFirst();
    assertThat(rule.path()).isEqualTo("a_1.b").isSameAs(rule.path());
  }

  @Test
  void chargesThePatternInPlaceOfASharedValueAndNothingElse() {
    PolicyBook book =
        book(
            "d",
            key("path")
                .value("path/*")
                .share()
                .of(key("file").value("file/*").of(key("type").limit(1).of())),
            key("file").value("test*").share().limit(2).of(),
            key("file").value("test1").limit(3).of());

    String[] entries = {"path", "path/a", "file", "file/b", "type", "t"};
    assertThat(rule(book, entries).chargedEntries(entries))
        .containsExactly("path", "path/*", "file", "file/b", "type", "t");
    assertThat(entries[1]).isEqualTo("path/a");

    String[] own = {"file", "test1"};
    assertThat(rule(book, own).chargedEntries(own)).isSameAs(own);
    String[] shared = {"file", "test2"};
    assertThat(rule(book, shared).chargedEntries(shared)).containsExactly("file", "test*");
    String[] literal = {"file", "test*"};
    assertThat(rule(book, literal).chargedEntries(literal)).isSameAs(literal);
  }

  @Test
  void keepsCountersWithEqualJoinedTextsApart() {
    PolicyBook book = book("d", key("a_b").limit(1).of(), key("a").limit(1).of());

    assertThat(counter(book, "a_b", "c")).isNotEqualTo(counter(book, "a", "b_c"));
    assertThat(counter(book, "a", "b_c")).isEqualTo(counter(book, "a", "b_c"));
  }

  @Test
  void separatesScopesByDomainAlgorithmAndWindowButNotByLimit() {
    String scope = scope("d", new FixedWindow(1, 60_000));
    assertThat(scope("d", new FixedWindow(2, 60_000))).isEqualTo(scope);
    assertThat(scope("e", new FixedWindow(1, 60_000))).isNotEqualTo(scope);
    assertThat(scope("d", new FixedWindow(1, 1_000))).isNotEqualTo(scope);
    assertThat(scope("d", new SlidingWindow(1, 60_000))).isNotEqualTo(scope);
    assertThat(scope("d/fixed_window/60000", new FixedWindow(1, 60_000)))
        .isNotEqualTo(scope + "/fixed_window/60000")
        .doesNotStartWith(scope);
  }

  @Test
  void anOverrideSharesTheCounterOfAFixedWindowForTheSameEntriesAndUnit() {
    PolicyBook book = book("d", key("user").limit(100).of());
    String[] entries = {"user", "bob"};
    Rule override = Rule.override("d", entries, new LimitOverride(5, LimitUnit.MINUTE));

    assertThat(counter(override, entries)).isEqualTo(counter(book, entries));
    assertThat(counter(Rule.override("d", entries, new LimitOverride(5, LimitUnit.HOUR)), entries))
        .isNotEqualTo(counter(book, entries));
  }

  @Test
  void anOverrideHasItsOwnLimitAndNoOtherProperty() {
    String[] entries = {"k", "v", "k2", ""};
    Rule rule = Rule.override("d", entries, new LimitOverride(7, LimitUnit.DAY));

    assertThat(rule.limits()).hasSize(1);
    Limit limit = rule.limits().getFirst();
    assertThat(limit.algorithm()).isEqualTo(new FixedWindow(7, 86_400_000));
    assertThat(limit.requestsPerUnit()).isEqualTo(7);
    assertThat(limit.unit()).isEqualTo(LimitUnit.DAY);
    assertThat(limit.windowMillis()).isEqualTo(86_400_000);
    assertThat(rule.metricKeys(entries)).containsExactly("k_v", "k2");
    assertThat(rule.path()).isEqualTo("k_v.k2");
    assertThat(rule.dynamicMetricKeys()).as("values of the request show").isTrue();
    assertThat(rule.chargedEntries(entries)).isSameAs(entries);
    assertThat(rule.name()).isEmpty();
    assertThat(rule.replaces()).isEmpty();
    assertThat(rule.metadata()).isNull();
    assertThat(rule.unlimited() || rule.shadow() || rule.quota() || rule.overdraft()).isFalse();
    assertThat(rule.tier()).isEqualTo(new Tier.Strict());
    assertThat(rule.onOutage()).isEqualTo(OnOutage.ERROR);
    assertThat(rule.onDataLoss()).isEqualTo(DataLoss.REFILL);
    assertThat(rule.location()).hasToString("(request)");
  }

  @Test
  void everyUnitHasItsMilliseconds() {
    assertThat(LimitUnit.values())
        .extracting(LimitUnit::millis)
        .containsExactly(
            1_000L,
            60_000L,
            3_600_000L,
            86_400_000L,
            604_800_000L,
            2_592_000_000L,
            31_536_000_000L);
  }

  @Test
  void printsItsDomainPathAndLocation() {
    PolicyBook book = book("d", key("user").value("u*").of(key("path").line(12).limit(1).of()));

    assertThat(rule(book, "user", "u1", "path", "/"))
        .hasToString("d user_u*.path (shop.yaml:12:5)");
  }

  @Test
  void isUnlimitedWithoutLimits() {
    Rule rule = rule(book("d", key("a").unlimited().of()), "a", "b");
    assertThat(rule.unlimited()).isTrue();
    assertThat(rule.limits()).isEmpty();
    assertThat(rule(book("d", key("a").limit(1).of()), "a", "b").unlimited()).isFalse();
  }

  @Test
  void isOverdrawnOnlyIfStrictAndLeasedOnlyInFixedWindows() {
    LimitSpec fixed = Descriptors.perMinute(5);
    LimitSpec sliding = new LimitSpec(new SlidingWindow(5, 1_000), 5, null, 1_000);
    Tier leased = new Tier.Leased(new LeaseSize.Adaptive(), true, 0, 0);

    assertThat(spec(leased, false, fixed, fixed).sharing().tier()).isEqualTo(leased);
    assertThat(spec(new Tier.CachedDeny(), false, fixed, sliding).limits()).hasSize(2);
    assertThat(spec(new Tier.Strict(), true, fixed, sliding).sharing().overdraft()).isTrue();
    assertThatThrownBy(() -> spec(leased, false, fixed, sliding))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> spec(leased, true, fixed))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> spec(new Tier.CachedDeny(), true, fixed))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static RuleSpec spec(Tier tier, boolean overdraft, LimitSpec... limits) {
    return new RuleSpec(
        new SourceLocation("shop.yaml", 1, 5),
        List.of(limits),
        "",
        List.of(),
        false,
        false,
        new Sharing(Scope.REGION, tier, overdraft, OnOutage.ERROR, DataLoss.REFILL),
        null,
        null,
        null,
        null);
  }

  private static String scope(String domain, RateAlgorithm<?> algorithm) {
    return Limit.of(domain, new LimitSpec(algorithm, 1, null, algorithm.windowMillis()), null)
        .counterScope();
  }

  private static CounterKey counter(PolicyBook book, String... entries) {
    return counter(rule(book, entries), entries);
  }

  private static CounterKey counter(Rule rule, String[] entries) {
    return CounterKey.of(rule.limits().getFirst().counterScope(), rule.chargedEntries(entries));
  }

  private static Rule rule(PolicyBook book, String... entries) {
    return Objects.requireNonNull(Descriptors.match(book, entries));
  }
}
