package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.book;
import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.ConcurrencyRule.FleetTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.descriptors.policy.ConcurrencyRule.WaitingRoom;
import io.throttlekit.descriptors.policy.Descriptors;
import io.throttlekit.descriptors.policy.Explainer;
import io.throttlekit.descriptors.policy.Explanation;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.limit.FailsafeLimit;
import io.throttlekit.limit.Headroom;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.WindowSettings;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.OnOutage;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConcurrencyReaderTest {
  private static final LeaseTerms MINUTE = new LeaseTerms(60_000, Release.STREAM_DONE);

  @Test
  void omittedFieldsHaveDefaults() {
    assertThat(limit(""))
        .isEqualTo(
            new ConcurrencyRule(
                LimitAlgorithm.PROBED_VEGAS,
                new LimitRange(1, 1_000, 20),
                null,
                null,
                atService(null, null)));
    assertThat(limit("queue: {}").gate()).isEqualTo(atService(new WaitingRoom(2, 3), null));
    assertThat(limit("priority: {entry: p}").gate())
        .isEqualTo(atService(new WaitingRoom(2, 3), "p"));
    assertThat(limit("lease: {}, algorithm: , min: ~").gate()).isEqualTo(atService(null, null));
  }

  @ParameterizedTest
  @CsvSource({
    "probed_vegas, 1, 1000",
    "Vegas, 1, 1000",
    "failsafe, 1, 200",
    "gradient2, 20, 200",
    "AIMD, 20, 200"
  })
  void everyAlgorithmHasARangeOfItsOwn(String algorithm, int min, int max) {
    ConcurrencyRule limit = limit("algorithm: " + algorithm);
    assertThat(limit.algorithm().id()).isEqualToIgnoringCase(algorithm);
    assertThat(limit.range()).isEqualTo(new LimitRange(min, max, 20));
  }

  @ParameterizedTest
  @CsvSource({
    "'min: 30', 30, 200, 30",
    "'max: 7', 3, 7, 7",
    "'max: 30', 15, 30, 20",
    "'max: 40', 20, 40, 20",
    "'min: 300', 300, 600, 300",
    "'min: 600000', 600000, 1000000, 600000",
    "'max: 7, min: 7', 7, 7, 7",
    "'min: 2, max: 3, initial: 3', 2, 3, 3",
    "'initial: 200', 20, 200, 200"
  })
  void readsARangeAndFitsItsDefaultsAroundIt(String fields, int min, int max, int initial) {
    assertThat(limit("algorithm: aimd, " + fields).range())
        .isEqualTo(new LimitRange(min, max, initial));
  }

  @Test
  void aBoundThatLeavesNoRoomIsAWarning() {
    assertThat(problems(policy("max: 1")))
        .containsExactly(
            "a.yaml:3:33: warning: the concurrency limit is always 1: this `max` leaves it no room"
                + " to move (write min: 1 too if that is meant)");
    assertThat(problems(policy("min: 1000000")))
        .containsExactly(
            "a.yaml:3:33: warning: the concurrency limit is always 1000000: this `min` leaves it no"
                + " room to move (write max: 1000000 too if that is meant)");
    assertThat(problems(policy("min: 1, max: 1"), policy("max: 2").replace("k,", "j,"))).isEmpty();
  }

  @Test
  void readsEveryFieldOfEachPointOfEnforcement() {
    assertThat(
            limit(
                    "lease: {ttl: 5s, release: access_log, flush_interval: 5ms, service_time:"
                        + " 20ms}, queue: {initial: 1.5, max: 2.25}, priority: {entry: p}, gate:"
                        + " service")
                .gate())
        .isEqualTo(
            new AtService(
                new LeaseTerms(5_000, Release.ACCESS_LOG),
                new WaitingRoom(1.5, 2.25),
                "p",
                null,
                null,
                FleetTerms.DEFAULT));
    assertThat(limit("gate: envoy, cluster: up").gate()).isEqualTo(new AtEnvoys("up", false));
    assertThat(limit("gate: envoy, cluster: up, circuit_breaker: high").gate())
        .isEqualTo(new AtEnvoys("up", true));
  }

  @Test
  void readsHowReplicasShareALimit() {
    String equalParts =
        "coordination: {aggregate: median, allocation: equal, on_outage: local_only}";
    assertThat(((AtService) limit(equalParts).gate()).fleet())
        .isEqualTo(
            new FleetTerms(
                new Coordination(Aggregate.MEDIAN, Allocation.EQUAL, true), OnOutage.LOCAL_ONLY));
    assertThat(onlyRule(policy(equalParts)).inWords())
        .endsWith(", shared by replicas (median, by equal parts, each alone in an outage)");
    assertThat(((AtService) limit("coordination: {}").gate()).fleet())
        .isEqualTo(new FleetTerms(Coordination.DEFAULT, OnOutage.FAIL_CLOSED));
    assertThat(onlyRule(policy("coordination: {aggregate: min}")).inWords())
        .endsWith(", shared by replicas (min, by demand)");
  }

  @Test
  void anUnbufferedLogIsTimelyForEveryRequest() {
    String lease = "lease: {release: access_log, flush_interval: 0, service_time: 1ms}";
    assertThat(((AtService) limit(lease).gate()).lease().release()).isEqualTo(Release.ACCESS_LOG);
  }

  @Test
  void keepsFlagsNameAndMetadataAndHasNoLimit() {
    Rule rule =
        onlyRule(
            "domain: d\ndescriptors:\n  - {key: k, shadow_mode: true, name: n, metadata: {a: 1},"
                + " replaces: [{name: m}], concurrency: {}}\n");
    assertThat(rule.limits()).isEmpty();
    assertThat(rule.unlimited()).isFalse();
    assertThat(rule.shadow()).isTrue();
    assertThat(rule.name()).isEqualTo("n");
    assertThat(rule.replaces()).containsExactly("m");
    assertThat(Objects.requireNonNull(rule.metadata())).containsEntry("a", 1L);
  }

  @Test
  void aPriorityLeadsToTheSameRuleAndTheSameLimit() {
    PolicyBook book =
        book(
            """
            domain: d
            descriptors:
              - key: up
                value: a*
                share_threshold: true
                concurrency: {priority: {entry: p}}
                descriptors: [{key: q, concurrency: {}}]
            """);
    Rule rule = Objects.requireNonNull(match(book, "up", "ab"));
    String[] prioritized = {"up", "ac", "p", "high"};
    assertThat(match(book, prioritized)).isSameAs(rule);
    assertThat(rule.chargedEntries(prioritized)).containsExactly("up", "a*");
    assertThat(rule.chargedEntries(new String[] {"up", "ab"})).containsExactly("up", "a*");
    assertThat(rule.metricKeys(prioritized)).containsExactly("up_a*");
    assertThat(match(book, "up", "ab", "q", "1")).isNotSameAs(rule);
    assertThat(match(book, "up", "ab", "r", "1")).isNull();
    assertThat(match(book, "up", "ab", "p", "high", "p", "high")).isNull();
    assertThat(book.rules()).hasSize(2);
  }

  @Test
  void aUserLeadsToTheSameLimitBeforeOrAfterThePriorityAndIsNotCharged() {
    PolicyBook book = book(policy("priority: {entry: p, user: u}"));
    Rule rule = Objects.requireNonNull(match(book, "k", "1"));
    for (String[] more :
        List.of(
            new String[] {"k", "1", "u", "ann"},
            new String[] {"k", "1", "u", "ann", "p", "high"},
            new String[] {"k", "1", "p", "high", "u", "ann"})) {
      assertThat(match(book, more)).isSameAs(rule);
      assertThat(rule.chargedEntries(more)).containsExactly("k", "1");
    }
    assertThat(match(book, "k", "1", "u", "ann", "u", "ann")).isNull();
    assertThat(match(book, "k", "1", "p", "low", "u", "ann", "p", "low")).isNull();
    assertThat(
            new Explainer()
                .explain(book, "d", new String[] {"k", "1", "p", "urgent", "u", "ann"})
                .summary())
        .endsWith(", by priority of entry p and usage of entry u; p=urgent is no priority: medium");
  }

  @Test
  void readsTheUserAndThePrioritizer() {
    assertThat(onlyRule(policy("priority: {entry: p, user: u, prioritizer: all}")).inWords())
        .endsWith(", by priority of entry p and usage of entry u with prioritizer all");
    AtService gate = (AtService) limit("priority: {entry: p, user: u}").gate();
    assertThat(gate.priorityEntry()).isEqualTo("p");
    assertThat(gate.userEntry()).isEqualTo("u");
    assertThat(gate.prioritizer()).isNull();
  }

  @Test
  void warnsOfAPrioritizerThatOnlyAnotherDomainNames() {
    String rules =
        "descriptors: [{key: k, concurrency: {priority: {entry: p, prioritizer: all}}}]\n";
    assertThat(Loading.problems("domain: d\n" + rules, "domain: e\n" + rules))
        .hasSize(2)
        .allMatch(text -> text.contains("no other rule of the domain names the prioritizer `all`"));
  }

  @Test
  void readsEveryParameterOfFailsafe() {
    assertThat(
            limit(
                    "algorithm: failsafe, failsafe: {recent_window: {min: 500ms, max: 2s, samples:"
                        + " 7}, quantile: 0.5, baseline_window: 20, correlation_window: 60,"
                        + " max_limit_factor: 4, max_limit_factor_decay: 1.5, min_limit_factor:"
                        + " 2, stabilization: 3s}")
                .failsafe())
        .isEqualTo(
            new FailsafeLimit.Settings(
                new WindowSettings(500_000_000, 2_000_000_000, 7),
                0.5,
                20,
                60,
                Headroom.times(4, 1.5, 2),
                3_000_000_000L));
  }

  @Test
  void omittedParametersHaveTheDefaultsOfTheAlgorithms() {
    assertThat(limit("algorithm: failsafe").failsafe()).isNull();
    assertThat(limit("algorithm: failsafe, failsafe: {}").failsafe())
        .isEqualTo(FailsafeLimit.Settings.defaults());
    assertThat(limit("algorithm: failsafe, failsafe: {recent_window: {min: 1m}}").failsafe())
        .extracting(FailsafeLimit.Settings::recent)
        .isEqualTo(new WindowSettings(60_000_000_000L, 60_000_000_000L, 50));
    assertThat(limit("algorithm: aimd").recalibration()).isNull();
    assertThat(limit("algorithm: aimd, min: 3, recalibration: {}").recalibration())
        .isEqualTo(new Recalibration(60_000_000_000L, 3, 50));
  }

  @Test
  void recalibratesGradient2AndAimd() {
    for (String algorithm : List.of("gradient2", "aimd")) {
      Rule rule =
          onlyRule(
              policy(
                  "recalibration: {interval: 2m, probe_limit: 30, samples: 9}, algorithm: "
                      + algorithm));
      assertThat(Objects.requireNonNull(rule.concurrency()).recalibration())
          .isEqualTo(new Recalibration(120_000_000_000L, 30, 9));
      assertThat(rule.inWords())
          .startsWith(
              "20 to 200 in flight (" + algorithm + ", from 20, recalibrated every 2m at 30), ");
    }
  }

  @Test
  void anAlgorithmIsTheSameOnlyWithTheSameRangeAndParameters() {
    String failsafe = "algorithm: failsafe, failsafe: {quantile: 0.5, max_limit_factor: 2}";
    ConcurrencyRule rule = limit(failsafe);
    assertThat(rule.hasAlgorithmOf(limit(failsafe + ", queue: {}"))).isTrue();
    assertThat(rule.hasAlgorithmOf(limit(failsafe.replace("0.5", "0.6")))).isFalse();
    assertThat(rule.hasAlgorithmOf(limit(failsafe.replace(": 2", ": 3")))).isFalse();
    assertThat(rule.hasAlgorithmOf(limit(failsafe + ", max: 300"))).isFalse();
    String aimd = "algorithm: aimd, recalibration: {interval: 1m}";
    assertThat(limit(aimd).hasAlgorithmOf(limit(aimd.replace("1m", "2m")))).isFalse();
    assertThat(limit(aimd).hasAlgorithmOf(limit("algorithm: aimd"))).isFalse();
  }

  @Test
  void theLimiterScopeContainsTheDomainAndNoParameters() {
    Rule rule = onlyRule(policy("min: 2"));
    assertThat(onlyRule(policy("algorithm: aimd, max: 50")).limiterScope())
        .isEqualTo(rule.limiterScope());
    assertThat(onlyRule(policy("").replace("domain: d", "domain: e")).limiterScope())
        .isNotEqualTo(rule.limiterScope());
    assertThat(rule.limiterScope()).doesNotContain("fixed_window");
  }

  @Test
  void describesItselfInPlainEnglish() {
    assertThat(onlyRule(policy("")).inWords())
        .isEqualTo(
            "1 to 1000 in flight (probed_vegas, from 20), with a lease for each request until its"
                + " stream is done, at most 1m");
    assertThat(
            onlyRule(
                    policy(
                        "min: 4, max: 9, algorithm: aimd, queue: {initial: 1.5}, priority: {entry:"
                            + " p}, lease: {release: access_log, flush_interval: 0, service_time:"
                            + " 1s}"))
                .inWords())
        .isEqualTo(
            "4 to 9 in flight (aimd, from 9), with a lease for each request until it is logged, at"
                + " most 1m, a queue of 1.5 to 3 times the limit, by priority of entry p");
    assertThat(onlyRule(policy("gate: envoy, cluster: up, circuit_breaker: high")).inWords())
        .isEqualTo(
            "1 to 1000 in flight (probed_vegas, from 20), pushed to Envoys for cluster up (high"
                + " priority)");
  }

  @Test
  void explainsALimitAndAPriorityAndARelease() {
    PolicyBook book = book(policy("priority: {entry: p}"));
    Explanation found = new Explainer().explain(book, "d", new String[] {"k", "1", "p", "low"});
    assertThat(found.summary()).startsWith("rule `k` at a.yaml:3:14: 1 to 1000 in flight");
    assertThat(found.steps()).hasSize(2);
    assertThat(found.summary()).doesNotContain("medium");
    assertThat(new Explainer().explain(book, "d", new String[] {"k", "1", "p", "urgent"}).summary())
        .endsWith(", by priority of entry p; p=urgent is no priority: medium");
    assertThat(new Explainer().explain(book, "d", new String[] {"k", "p"}).summary())
        .endsWith(", by priority of entry p");
    Explanation release =
        new Explainer().explain(book, "d", new String[] {"k", "1", Rule.LEASE_ENTRY, "xyz"});
    assertThat(release.rule()).isNull();
    assertThat(release.toString())
        .isEqualTo(
            "no rule: entry 2 returns the permit `xyz`, whatever the others reach; never"
                + " charged");
    for (StreamDoneEntry entry : StreamDoneEntry.values()) {
      String[] entries = {"k", "1", entry.key(), "xyz"};
      assertThat(new Explainer().explain(book, "d", entries).summary())
          .startsWith("no rule: entry 2 " + entry.effect() + " the permit `xyz`");
    }
  }

  @Test
  void reportsNothingMoreOfAnUnreadableRule() {
    assertThat(problems(policy("<<: *gone"))).singleElement().asString().contains("gone");
    assertThat(problems(policy("gate: envoi, queue: {}, cluster: up")))
        .singleElement()
        .asString()
        .contains("did you mean envoy?");
  }

  private static AtService atService(@Nullable WaitingRoom queue, @Nullable String priority) {
    return new AtService(MINUTE, queue, priority, null, null, FleetTerms.DEFAULT);
  }

  private static @Nullable Rule match(PolicyBook book, String... entries) {
    return Descriptors.match(book, entries);
  }

  private static ConcurrencyRule limit(String fields) {
    assertThat(problems(policy(fields))).isEmpty();
    return Objects.requireNonNull(onlyRule(policy(fields)).concurrency());
  }

  private static String policy(String fields) {
    return "domain: d\ndescriptors:\n  - {key: k, concurrency: {" + fields + "}}\n";
  }

  @Test
  void aRuleThatNeedsASensorIsAnErrorWithoutOne() {
    LoadOptions blind = new LoadOptions(true, "", true, false, false, false);
    String log = "lease: {release: access_log, flush_interval: 0, service_time: 1ms}";
    LoadResult result =
        new PolicyLoader(blind)
            .load(Loading.sources(policy("gate: envoy, cluster: up"), policy(log)));
    assertThat(result.book()).isNull();
    assertThat(result.problems())
        .extracting(problem -> problem.toString().replaceAll("^.*error: ", ""))
        .contains(
            "`gate: envoy` learns from access logs, which this service does not take (set"
                + " concurrency.access_log: true, or write gate: service)",
            "`release: access_log` waits for access logs, which this service does not take (set"
                + " concurrency.access_log: true, or write release: stream_done)");
  }

  @Test
  void twoRulesCannotSteerOneCircuitBreaker() {
    String one = policy("gate: envoy, cluster: up");
    String high = policy("gate: envoy, cluster: up, circuit_breaker: high").replace(": d", ": e");
    String again = one.replace("domain: d", "domain: f");
    assertThat(problems(one, high)).isEmpty();
    assertThat(problems(one, high, again))
        .singleElement()
        .asString()
        .endsWith(
            "error: the max_requests of cluster `up` is set by the rule at a.yaml:3:14"
                + " already (remove one of them)");
  }

  @Test
  void aPushedLimitCannotBeInShadowMode() {
    String shadow = policy("gate: envoy, cluster: up").replace("{key", "{shadow_mode: true, key");
    assertThat(problems(shadow))
        .singleElement()
        .asString()
        .contains("3:6", "`shadow_mode` has no meaning with `gate: envoy`");
    assertThat(problems(shadow.replace("true", "false"))).isEmpty();
  }
}
