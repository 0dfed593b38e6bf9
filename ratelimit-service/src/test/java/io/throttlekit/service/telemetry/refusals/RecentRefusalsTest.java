package io.throttlekit.service.telemetry.refusals;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.Logged;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.log.StructuredRecord;
import io.throttlekit.service.telemetry.Policies;
import io.throttlekit.tier.ManualScheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RecentRefusalsTest {
  private static final String POLICY =
      """
      domain: shop
      descriptors:
        - {key: user, rate_limit: {unit: minute, requests_per_unit: 5}}
        - {key: path, value: /s*, share_threshold: true, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: "two\\nlines", rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: overdraft, rate_limit: {unit: day, requests_per_unit: 1, overdraft: true}}
        - {key: shadow, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
        - key: api
          rate_limit:
            unit: day
            requests_per_unit: 9
            fair_share: {tenant: org, weight_entry: plan, weights: {gold: 2}}
      """;
  private static final Decision REFUSED = Decision.refuse(5, 0, 30_000, 30_000);
  private static final Decision ADMITTED = Decision.admit(5, 1, 30_000);

  private final Policies policies = Policies.of(POLICY);
  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final Received received = new Received();
  private final RecentRefusals refusals =
      RecentRefusals.of(time, timer, Duration.ofSeconds(10), this::inTurn, received);
  private int sampled;

  @Test
  void showsTheKeysThatWereRefusedMostFirst() {
    refuse(1, "user", "ann");
    refuse(3, "user", "bob");
    decide(ADMITTED, 1, "user", "carol");
    decide(REFUSED, 0, "user", "peeking");
    decide(REFUSED, -1, "user", "refunding");
    time.advance(4_000);
    assertThat(refusals.page())
        .isEqualTo(
            """
            # refusals of the last 4 s by key, the 20 with the most; estimates above some hundred a second
            shop: user=bob: refusals=3 rule=user limit=5 last=4s retry_after=30s
            shop: user=ann: refusals=1 rule=user limit=5 last=4s retry_after=30s
            """);
    assertThat(received.decisions).isEqualTo(7);
  }

  @Test
  void namesTheCounterTheTenantAndTheShadow() {
    refuse(1, "path", "/s?q=1");
    refuse(1, "path", "/s?q=2");
    refuse(1, "api", "v1", "plan", "gold", "org", "acme");
    refuse(1, "shadow", "a,b");
    assertThat(lines())
        .containsExactlyInAnyOrder(
            "shop: path=/s*: refusals=2 rule=path_/s* limit=1 last=0s retry_after=30s",
            "shop: api=v1,org=acme: refusals=1 rule=api limit=5 last=0s retry_after=30s",
            "shop: shadow=a\\,b: refusals=1 rule=shadow limit=1 last=0s retry_after=30s shadow");
  }

  @Test
  void aTextOfARequestIsCutAndCannotForgeALine() {
    refuse(1, "user", "a\nshop: user=x" + "y".repeat(100_000));
    assertThat(lines()).hasSize(1);
    assertThat(lines().getFirst()).startsWith("shop: user=a\uFFFDshop: user=xyy").contains("y…: ");
    assertThat(lines().getFirst()).hasSizeLessThan(200);
  }

  @Test
  void aTextOfAPolicyCannotForgeALine() {
    refuse(1, "two\nlines", "a");
    assertThat(lines())
        .containsExactly(
            "shop: two\uFFFDlines=a: refusals=1 rule=two\uFFFDlines limit=1 last=0s"
                + " retry_after=30s");
  }

  @Test
  void forgetsAfterTwoMinutes() {
    refuse(2, "user", "bob");
    time.advance(61_000);
    refuse(1, "user", "bob");
    refuse(1, "user", "ann");
    assertThat(lines().getFirst()).contains("user=bob: refusals=3 ", " last=0s ");
    time.advance(60_000);
    assertThat(lines().getFirst()).contains("user=ann: refusals=1 ");
    assertThat(lines()).hasSize(2);
    time.advance(120_000);
    assertThat(lines()).isEmpty();
  }

  @Test
  void memoryIsBoundedAndAFrequentKeyIsFoundAmongInventedOnes() {
    for (int i = 0; i < 590; i++) { // within one minute
      refuse(1, "user", "invented" + i);
      refuse(i % 10 == 0 ? 1 : 0, "user", "bob");
      time.advance(100); // so that each is recorded
    }
    assertThat(lines()).hasSize(RecentRefusals.MAX_SHOWN);
    assertThat(lines().getFirst()).contains("user=bob: refusals=59 ");
  }

  @Test
  void aFloodIsSampledAndItsNumberIsKept() {
    refuse(RecentRefusals.EXACT + 10 * RecentRefusals.STRIDE, "user", "bob");
    assertThat(lines().getFirst())
        .contains("refusals=" + (RecentRefusals.EXACT + 10 * RecentRefusals.STRIDE) + " ");
  }

  @Test
  void aRefusalThatIsNotSampledAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Rule rule = rule("user", "bob");
    String[] entries = {"user", "bob"};
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      time.advance(100);
      for (int i = 0; i < RecentRefusals.EXACT; i++) {
        refusals.decided(rule, entries, 1, REFUSED, false);
      }
      long before = threads.getCurrentThreadAllocatedBytes();
      sampled = 0;
      for (int i = 1; i < RecentRefusals.STRIDE; i++) {
        refusals.decided(rule, entries, 1, REFUSED, false);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).isZero();
  }

  @Test
  void afterAFloodEachRefusalIsRecordedAgain() {
    refuse(RecentRefusals.EXACT + 10, "user", "bob");
    refuse(1, "user", "ann");
    assertThat(lines()).hasSize(1);
    time.advance(100);
    refuse(1, "user", "ann");
    assertThat(lines()).hasSize(2);
  }

  @Test
  void logsTheKeysThatWereRefusedMostOnceInAnInterval() {
    try (Logged logged = Logged.by(RefusalLog.class)) {
      for (int user = 1; user <= 9; user++) {
        refuse(user, "user", "u" + user);
      }
      assertThat(logged.lines()).isEmpty();
      time.advance(10_000);
      timer.run();
      assertThat(logged.records())
          .extracting(record -> ((StructuredRecord) record).fields().toString())
          .hasSize(RefusalLog.MAX_LINES)
          .startsWith(
              "{domain=shop, rule=user, descriptor=user=u9, refusals=9, interval_ms=10000, limit=5,"
                  + " retry_after_ms=30000, shadow=false}")
          .doesNotContain("u4");
      time.advance(60_000);
      timer.run();
      assertThat(logged.lines()).hasSize(RefusalLog.MAX_LINES);
      refuse(1, "user", "u1");
      assertThat(timer.size()).isEqualTo(1);
    }
  }

  @Test
  void warnsOnceOfARuleThatNeverChargesTheCostsOfStreams() {
    Decision left = Decision.refuse(5, 2, 30_000, 30_000);
    try (Logged logged = Logged.by(UnchargedCosts.class)) {
      for (int i = 0; i < UnchargedCosts.ENOUGH; i++) {
        assertThat(logged.lines()).isEmpty();
        decide(left, 100, "user", "bob");
        decide(left, 100, "user", "bob");
        decide(ADMITTED, 0, "user", "bob");
        decide(ADMITTED, 0, "user", "bob");
        time.advance(1);
        timer.run();
      }
      assertThat(logged.lines()).hasSize(1);
      assertThat(logged.lines().getFirst()).contains("overdraft: true").contains(":3:");
      for (int i = 0; i < 10; i++) {
        decide(left, 100, "user", "bob");
        decide(ADMITTED, 0, "user", "bob");
      }
      time.advance(1);
      timer.run();
      assertThat(logged.lines()).hasSize(1);
    }
  }

  @Test
  void doesNotWarnOfCostsThatAreRefusedInTimeOrOfOtherKeys() {
    Decision left = Decision.refuse(5, 2, 30_000, 30_000);
    try (Logged logged = Logged.by(UnchargedCosts.class)) {
      for (int i = 0; i < 10; i++) {
        decide(left, 100, "user", "bob");
        decide(ADMITTED, 0, "user", "ann");
        decide(REFUSED, 100, "user", "carol");
        decide(ADMITTED, 0, "user", "carol");
        decide(left, 1, "user", "dan");
        decide(ADMITTED, 0, "user", "dan");
        decide(left, 100, "overdraft", "a");
        decide(ADMITTED, 0, "overdraft", "a");
      }
      time.advance(1);
      timer.run();
      assertThat(logged.lines()).isEmpty();
    }
  }

  @Test
  void withoutAnIntervalNothingIsLogged() {
    RecentRefusals silent = RecentRefusals.of(time, timer, Duration.ZERO, this::inTurn, received);
    silent.decided(rule("user", "bob"), new String[] {"user", "bob"}, 1, REFUSED, false);
    assertThat(timer.size()).isZero();
    assertThat(silent.page()).contains("user=bob");
  }

  /** Returns 1, 2, 3 …, and 0 each time that the bound is reached. */
  private int inTurn(int bound) {
    sampled++;
    return sampled % bound;
  }

  private List<String> lines() {
    return refusals.page().lines().skip(1).toList();
  }

  private void refuse(int times, String... entries) {
    for (int i = 0; i < times; i++) {
      decide(REFUSED, 1, entries);
    }
  }

  private void decide(Decision decision, long hits, String... entries) {
    Rule rule = rule(entries);
    refusals.decided(rule, entries, hits, decision, rule.shadow());
  }

  private Rule rule(String... entries) {
    return Objects.requireNonNull(
        Objects.requireNonNull(Objects.requireNonNull(policies.book()).domain("shop"))
            .match(entries));
  }

  private static final class Received implements DecisionListener {
    int decisions;

    @Override
    public void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow) {
      decisions++;
    }

    @Override
    public void refusedFromCache(Rule rule, String[] entries, long hits) {}

    @Override
    public void domainNotFound(String domain, int descriptors) {}

    @Override
    public void globalShadow() {}
  }
}
