package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.service.Logged;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

class DecisionLogTest {

  private final AdmissionFixture service =
      AdmissionFixture.by(
          """
          - {key: one, rate_limit: {unit: minute, requests_per_unit: 1}}
          - {key: free, rate_limit: {unlimited: true}}
          """);

  @Test
  void everyDecisionIsOneDebugLineWithRulesAndRemainingUnits() {
    try (Logged logged = Logged.by(DecisionLog.class, Level.FINE)) {
      service.ask(charge("one"));
      service.ask(charge("one"));
      service.ask(charge("free"), charge("none"), charge("one"));
      service.ask("other", 1, charge("one"));
      assertThat(logged.lines())
          .containsExactly(
              "FINE d: admitted; one=v: rule one, 0 of 1 left (memory)",
              "FINE d: refused; one=v: rule one over its limit, 0 of 1 left (memory)",
              "FINE d: refused; free=v: rule free without a limit; none=v: no rule; one=v: rule one"
                  + " over its limit, 0 of 1 left (memory)",
              "FINE other: admitted; one=v: no rule");
    }
  }

  @Test
  void aSharedLimitNamesTheTenantItsWeightAndWhyItWasRefused() {
    AdmissionFixture shared =
        AdmissionFixture.by(
            """
            - key: one
              rate_limit:
                unit: minute
                requests_per_unit: 10
                fair_share: {tenant: org, weights: {acme: 4, umbrella: 1}}
            """);
    try (Logged logged = Logged.by(DecisionLog.class, Level.FINE)) {
      shared.ask(2, ofTenant("umbrella"));
      shared.ask(ofTenant("acme"));
      shared.ask(ofTenant("umbrella"));
      shared.ask(8, ofTenant("acme"));
      assertThat(logged.lines())
          .containsExactly(
              "FINE d: admitted; one=v,org=umbrella: rule one, 8 of 10 left (memory), tenant"
                  + " umbrella of weight 1",
              "FINE d: admitted; one=v,org=acme: rule one, 7 of 8 left (memory), tenant acme of"
                  + " weight 4",
              "FINE d: refused; one=v,org=umbrella: rule one over its limit, 0 of 2 left (memory),"
                  + " tenant umbrella of weight 1: its guarantee is used, and the rest is used or"
                  + " reserved for other tenants",
              "FINE d: refused; one=v,org=acme: rule one over its limit, 7 of 8 left for a cost of"
                  + " 8 (memory), tenant acme of weight 4: less is left of its guarantee, and the"
                  + " rest is used or reserved for others");
      shared.time.advance(60_000);
      shared.time.advance(60_000);
      shared.ask(10, ofTenant("umbrella"));
      shared.ask(ofTenant("acme"));
      assertThat(logged.lines().getLast())
          .endsWith(
              "8 of 8 left (memory), tenant acme of weight 4: other tenants had used its"
                  + " part before its request");
    }
  }

  private static Descriptor ofTenant(String org) {
    String[] entries = {"one", "v", "org", org};
    return new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
  }

  @Test
  void textOfCallersIsTruncatedAndCannotForgeLines() {
    try (Logged logged = Logged.by(DecisionLog.class, Level.FINE)) {
      String[] entries = {"k\ninfo", "x".repeat(61)};
      service.ask(new Descriptor(entries, null, Descriptor.HITS_UNSET, false));
      assertThat(logged.lines())
          .containsExactly("FINE d: admitted; k\ufffdinfo=" + "x".repeat(60) + "…: no rule");
    }
  }

  @Test
  void nothingIsLoggedWithoutDebug() {
    try (Logged logged = Logged.by(DecisionLog.class, Level.INFO)) {
      service.ask(charge("one"));
      assertThat(logged.lines()).isEmpty();
    }
  }
}
