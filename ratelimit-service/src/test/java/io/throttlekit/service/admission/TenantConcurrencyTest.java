package io.throttlekit.service.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.service.concurrency.RequestPermit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Requests with one descriptor, whose concurrency limit tenants share. */
class TenantConcurrencyTest {
  private static final String SHARED =
      """
      - key: api
        concurrency:
          min: 8
          max: 8
          fair_share: {tenant: org, weight_entry: plan, weights: {gold: 3}, unlisted_share: 0.25}
      """;

  private final AdmissionFixture service = AdmissionFixture.by(SHARED);

  @Test
  void aFloodLeavesAnActiveTenantItsPart() {
    end(ask("acme", "gold"));
    assertThat(admitted("flood", "free", 100)).hasSize(2);
    assertThat(service.gated.refusals).containsOnly(Refusal.ABOVE_PART);
    assertThat(admitted("acme", "gold", 100)).hasSize(6);
    assertThat(service.gated.refusals).endsWith(Refusal.LIMIT_REACHED);
    assertThat(figures()).containsExactly(new ShareFigures(2, 0, 0));
  }

  @Test
  void answersShowTheLimitOfTheTenant() {
    assertThat(decision(ask("acme", "gold"))).isEqualTo(Decision.admit(8, 7, 0));
    assertThat(decision(ask("flood", "free"))).isEqualTo(Decision.admit(2, 1, 0));
    assertThat(decision(ask("flood", "free"))).isEqualTo(Decision.admit(2, 0, 0));
    assertThat(decision(ask("flood", "free"))).isEqualTo(Decision.refuse(2, 0, 0, 1_500));
    assertThat(decision(ask("acme", "gold"))).isEqualTo(Decision.admit(6, 4, 0));
  }

  @Test
  void aTenantWithTheWholeLimitBorrowsNothing() {
    assertThat(admitted("flood", "free", 100)).hasSize(8);
    assertThat(figures()).containsExactly(new ShareFigures(1, 0, 0));
    assertThat(ask("acme", "gold").admitted()).isFalse();
    assertThat(figures()).containsExactly(new ShareFigures(2, 6, 6));
  }

  @Test
  void permitsThatEndGoToTheTenantBelowItsPart() {
    List<Answer> flooding = admitted("flood", "free", 100);
    assertThat(ask("acme", "gold").admitted()).isFalse();
    for (int i = 0; i < 6; i++) {
      end(flooding.get(i));
      assertThat(ask("flood", "free").admitted()).as("still above its part").isFalse();
      assertThat(ask("acme", "gold").admitted()).isTrue();
    }
  }

  @Test
  void inShadowModeNoTenantIsRefused() {
    service.load("- shadow_mode: true\n" + SHARED.replace("- key", "  key"));
    end(ask("acme", "gold"));
    assertThat(admitted("flood", "free", 10)).hasSize(10);
    assertThat(figures()).containsExactly(new ShareFigures(2, 6, 0));
  }

  @Test
  void otherSharesApplyAtOnceAndNoneOnceNothingIsInFlight() {
    end(ask("acme", "gold"));
    Answer first = ask("flood", "free");
    service.load(SHARED.replace("0.25", "0.5").replace("gold: 3", "gold: 1"));
    end(ask("acme", "gold"));
    List<Answer> more = admitted("flood", "free", 100);
    assertThat(more).hasSize(3);
    service.load("- {key: api, concurrency: {min: 8, max: 8}}\n");
    Descriptor whole =
        new Descriptor(new String[] {"api", "v"}, null, Descriptor.HITS_UNSET, false);
    assertThat(service.ask(whole).admitted()).as("it is divided until it is idle").isFalse();
    end(first);
    more.forEach(TenantConcurrencyTest::end);
    for (int i = 0; i < 8; i++) {
      assertThat(service.ask(whole).admitted()).isTrue();
    }
    assertThat(figures()).isEmpty();
  }

  private Answer ask(String tenant, String plan) {
    String[] entries = {"api", "v", "plan", plan, "org", tenant};
    return service.ask(new Descriptor(entries, null, Descriptor.HITS_UNSET, false));
  }

  private List<Answer> admitted(String tenant, String plan, int requests) {
    List<Answer> admitted = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      Answer answer = ask(tenant, plan);
      if (answer.admitted()) {
        admitted.add(answer);
      }
    }
    return admitted;
  }

  private List<ShareFigures> figures() {
    List<ShareFigures> all = new ArrayList<>();
    service.gate.limits().forEachDivided(limit -> all.add(limit.figures()));
    return all;
  }

  private static Decision decision(Answer answer) {
    return Objects.requireNonNull(answer.verdicts().getFirst().decision());
  }

  private static void end(Answer answer) {
    RequestPermit permit = Objects.requireNonNull(answer.permit());
    permit.cancelled();
  }
}
