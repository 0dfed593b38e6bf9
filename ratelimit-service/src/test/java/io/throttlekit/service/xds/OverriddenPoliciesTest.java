package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Overrides of policies that Envoy Gateway sent, and changes of their file. */
class OverriddenPoliciesTest {
  private static final String ROUTE = "httproute/default/r1/rule/0/match/0/www_example_com";
  private static final String DOMAIN = "default/eg/http";

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = folder.resolve("overrides.yaml");
    write(
        """
        overrides:
          - domain: "*"
            rate_limit: {on_outage: allow}
          - domain: default/eg/*
            descriptors:
              - key: httproute/default/r1/*
                rate_limit: {tier: cached_deny}
                descriptors:
                  - key: rule-4-match--1
                    rate_limit: {tier: leased, on_outage: deny}
                  - key: masked_remote_address
                    value: 127.*
                    shadow_mode: true
        """);
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
  }

  private ControlPlaneFixture start() {
    ControlPlaneFixture service = new ControlPlaneFixture(null, file);
    service.receive("1", ControlPlaneFixture.recorded("routes"));
    return service;
  }

  private static Rule rule(ControlPlaneFixture service, String... below) {
    String[] entries = new String[2 + below.length];
    entries[0] = ROUTE;
    entries[1] = ROUTE;
    System.arraycopy(below, 0, entries, 2, below.length);
    return Objects.requireNonNull(service.rule(DOMAIN, entries));
  }

  @Test
  void eachRuleHasTheSettingsOfAllOverridesThatMatchIt() {
    ControlPlaneFixture service = start();
    assertThat(service.problems()).isEmpty();
    Rule distinct = rule(service, "rule-0-match-0", "ann");
    assertThat(distinct.tier()).isInstanceOf(Tier.CachedDeny.class);
    assertThat(distinct.onOutage()).isEqualTo(OnOutage.ALLOW);
    Rule inner = rule(service, "rule-4-match--1", "rule-4-match--1");
    assertThat(inner.tier()).isInstanceOf(Tier.Leased.class);
    assertThat(inner.onOutage()).isEqualTo(OnOutage.DENY);
    Rule network =
        rule(service, "masked_remote_address", "127.0.0.0/8", "remote_address", "127.0.0.1");
    assertThat(network.shadow()).isTrue();
    Rule elsewhere =
        Objects.requireNonNull(
            service.rule(
                "default/p2", "default/p2/rule/0", "default/p2/rule/0", "rule-0-match-0", "ann"));
    assertThat(elsewhere.tier()).isInstanceOf(Tier.Strict.class);
    assertThat(elsewhere.onOutage()).isEqualTo(OnOutage.ALLOW);
  }

  @Test
  void aChangedFileTakesEffectOnceTwoPollsSeeItAndCountersRemain() throws IOException {
    ControlPlaneFixture service = start();
    String[] counted = {ROUTE, ROUTE, "rule-0-match-0", "ann"};
    assertThat(service.left(DOMAIN, counted)).isEqualTo(2);
    write("overrides:\n  - {domain: '*', rate_limit: {tier: strict}}\n");
    service.policies.pollOverrides();
    assertThat(rule(service, "rule-0-match-0", "ann").onOutage()).isEqualTo(OnOutage.ALLOW);
    service.policies.pollOverrides();
    assertThat(rule(service, "rule-0-match-0", "ann").onOutage()).isEqualTo(OnOutage.ERROR);
    assertThat(service.left(DOMAIN, counted)).isEqualTo(1);
    Object book = service.book();
    service.policies.pollOverrides();
    assertThat(service.book()).isSameAs(book);
  }

  @Test
  void aChangedFileTakesEffectAlsoAfterAFault() throws IOException {
    ControlPlaneFixture service = new ControlPlaneFixture(null, file, 1);
    service.receive("1", ControlPlaneFixture.recorded("routes"));
    assertThat(service.store.status().good()).isFalse();
    write("overrides:\n  - {domain: '*', rate_limit: {tier: strict}}\n");
    service.policies.pollOverrides();
    service.policies.pollOverrides();
    assertThat(rule(service, "rule-0-match-0", "ann").onOutage()).isEqualTo(OnOutage.ERROR);
    assertThat(service.store.status().good()).isTrue();
  }

  @Test
  void leasedUnitsGoOnThroughSnapshotsAndWhileTheRuleIsAway() throws IOException {
    write("overrides:\n  - {domain: '*', rate_limit: {tier: leased}}\n");
    ControlPlaneFixture service = start();
    String[] counted = {ROUTE, ROUTE, "rule-4-match--1", "rule-4-match--1"};
    int admitted = 0;
    for (int i = 0; i < 60; i++) {
      if (i % 10 == 5) {
        service.receive(
            ""); // all policies removed, and sent again by a control plane that restarted
        service.receive("1", ControlPlaneFixture.recorded("routes"));
      }
      assertThat(rule(service, "rule-4-match--1", "rule-4-match--1").tier())
          .isInstanceOf(Tier.Leased.class);
      admitted += service.admits(DOMAIN, counted) ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(50);
  }

  @Test
  void theLastValidOverridesRemainWhenTheFileHasAnError() throws IOException {
    ControlPlaneFixture service = start();
    write("overrides:\n  - {domain: '*', rate_limit: {tier: leesed}}\n");
    service.policies.pollOverrides();
    service.policies.pollOverrides();
    assertThat(service.problems())
        .containsExactly(
            file
                + ":2:38: error: `leesed` is not a value of `tier` (did you mean leased? One of:"
                + " strict, cached_deny, leased)");
    assertThat(service.store.status().good()).isFalse();
    assertThat(rule(service, "rule-0-match-0", "ann").tier()).isInstanceOf(Tier.CachedDeny.class);
    assertThat(service.receive("2", ControlPlaneFixture.recorded("routes")))
        .as("the control plane has made no mistake")
        .isEmpty();
  }

  @Test
  void anOverrideThatNoRuleMatchesIsAWarning() throws IOException {
    write("overrides:\n  - {domain: default/eg/htp, rate_limit: {tier: leased}}\n");
    assertThat(start().problems())
        .containsExactly(
            file
                + ":2:5: warning: this override has no effect: no rule with a limit matches it"
                + " (compare domain, keys and values with those of /rlconfig)");
  }

  @Test
  void aRuleThatAnOverrideDoesNotFitAppliesWithoutIt() throws IOException {
    write(
        """
        overrides:
          - domain: "*"
            rate_limit: {algorithm: sliding_log}
        """);
    ControlPlaneFixture service = start();
    String place = "xds default/eg/http: " + ROUTE + " > rule-6-match-0";
    assertThat(service.problems())
        .singleElement()
        .asString()
        .startsWith(place + ": error: sliding_log cannot do this: limit of a sliding log");
    assertThat(service.rejectedParts()).containsExactly(place + ": it has no overrides");
    assertThat(service.status().accepted()).as("no mistake of the control plane").isEqualTo(1);
    assertThat(rule(service, "rule-0-match-0", "ann").inWords()).contains("sliding_log");
    assertThat(rule(service, "rule-6-match-0", "rule-6-match-0").inWords())
        .contains("4294967295 per week (fixed_window)");
  }

  @Test
  void theFileMayBeMissingAndComeLater() throws IOException {
    Files.delete(file);
    ControlPlaneFixture service = start();
    assertThat(service.problems()).singleElement().asString().contains("overrides.yaml");
    assertThat(service.policies.overridesErrors()).hasSize(1);
    assertThat(service.rules()).hasSize(13);
    write();
    service.policies.pollOverrides();
    service.policies.pollOverrides();
    assertThat(service.problems()).isEmpty();
    assertThat(List.of(service.store.status().good())).containsExactly(true);
  }
}
