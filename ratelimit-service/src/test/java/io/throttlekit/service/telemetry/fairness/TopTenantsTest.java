package io.throttlekit.service.telemetry.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.service.telemetry.fairness.TopTenants.Figures;
import io.throttlekit.service.telemetry.fairness.TopTenants.TenantFigures;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TopTenantsTest {
  private static final long WINDOW = 1_000;

  private final TopTenants tenants = new TopTenants();

  @Test
  void inventedTenantsHaveBoundedMemoryAndSeries() {
    for (int i = 0; i < 10_000; i++) {
      admit("t" + i, 1, 100, 99);
    }
    assertThat(tenants.size()).isEqualTo(TopTenants.MAX_TRACKED);
    assertThat(names()).hasSize(TopTenants.MAX_SHOWN + 1).contains("t0", "t9", "other");
    assertThat(sum()).isEqualTo(10_000);
  }

  @Test
  void theTenantsThatRequestMostAreFoundAmongInventedOnes() {
    SplittableRandom random = new SplittableRandom(26);
    for (int i = 0; i < 30_000; i++) {
      int drawn = random.nextInt(100);
      admit(drawn < 50 ? "heavy" + drawn % 5 : "invented" + i, 1, 100, 99);
    }
    assertThat(names()).contains("heavy0", "heavy1", "heavy2", "heavy3", "heavy4");
  }

  @Test
  void aTenantThatRequestsAtAFixedRhythmIsFoundAmongInventedOnes() {
    for (int i = 0; i < TopTenants.MAX_TRACKED; i++) {
      admit("first" + i, 1, 100, 99);
    }
    for (int phase = 0; phase < 16; phase++) {
      for (int i = 0; i < 20_000; i++) {
        admit(i % 16 == phase ? "rhythmic" + phase : "invented" + i, 1, 100, 99);
      }
      assertThat(names()).contains("rhythmic" + phase);
    }
  }

  @Test
  void aTenantThatLeftIsReplacedInTime() {
    for (int i = 0; i < 10; i++) {
      admit("old" + i, 100_000, 1_000_000, 900_000);
    }
    for (int i = 0; i < 200_000 && !names().contains("new"); i++) {
      admit("new", 1, 100, 99);
    }
    assertThat(names()).contains("new").hasSize(TopTenants.MAX_SHOWN + 1);
  }

  @Test
  void similarTenantsDoNotTakeTurns() {
    for (int t = 0; t < 12; t++) {
      admit("t" + t, 50, 100, 50);
    }
    List<String> first = names();
    SplittableRandom random = new SplittableRandom(26);
    for (int i = 0; i < 20_000; i++) {
      admit("t" + random.nextInt(12), 1, 100, 99);
      assertThat(names()).isEqualTo(first);
    }
  }

  @Test
  void aHugeCostDoesNotKeepATenantShown() {
    for (int i = 0; i < 10; i++) {
      refuse("huge" + i, 1L << 53, 10, 100, 0);
    }
    for (int i = 0; i < 100; i++) {
      admit("usual", 1, 100, 99);
    }
    assertThat(names()).contains("usual");
  }

  @Test
  void longNamesAreCutAndANameCannotBeThatOfTheOthers() {
    admit("x".repeat(10_000), 1, 100, 99);
    admit("other", 3, 100, 97);
    assertThat(figures().tenants())
        .extracting(tenant -> tenant.name().length())
        .containsExactly(TopTenants.MAX_NAME, "other".length());
    for (int i = 0; i < 40; i++) {
      admit("t" + i, 1, 100, 99);
    }
    assertThat(names().stream().filter("other"::equals)).hasSize(1);
  }

  @Test
  void unitsBeyondTheGuaranteeAreBorrowed() {
    admit("a", 3, 4, 1);
    admit("a", 3, 6, 0); // 2 of them beyond 4
    admit("a", 1, 7, 0);
    refuse("a", 5, 5, 7, 0);
    TenantFigures a = figures().tenants().getFirst();
    assertThat(a).isEqualTo(new TenantFigures("a", 7, 3, 5, 4));
    assertThat(figures().borrowed()).isEqualTo(3);
    assertThat(figures().refused()).isEqualTo(5);
  }

  @Test
  void theLastUnitOfAGuaranteeIsNotBorrowed() {
    admit("a", 1, 2, 1);
    admit("a", 1, 2, 0);
    assertThat(figures().borrowed()).isZero();
  }

  @Test
  void whatIsReservedIsWholeForOneWindowWithoutRequests() {
    admit("a", 3, 10, 7);
    admit("b", 1, 5, 4);
    admit("b", 5, 6, 0);
    assertThat(reservedAt(500)).isEqualTo(7);
    assertThat(reservedAt(WINDOW)).as("10 and 5").isEqualTo(15);
    assertThat(reservedAt(2 * WINDOW - 1)).isEqualTo(15);
    assertThat(reservedAt(2 * WINDOW)).isZero();
  }

  @Test
  void decisionsWithoutAWindowSayNothingOfGuarantees() {
    tenants.decided("a", 1, 1, Decision.admit(700, 700, 0), 0);
    assertThat(reservedAt(0)).isZero();
    assertThat(figures().tenants().getFirst()).isEqualTo(new TenantFigures("a", 1, 0, 0, -1));
  }

  private void admit(String tenant, long cost, long limit, long remaining) {
    tenants.decided(tenant, cost, cost, Decision.admit(limit, remaining, WINDOW), 0);
  }

  private void refuse(String tenant, long cost, long ranked, long limit, long remaining) {
    Decision refusal = Decision.refuse(limit, remaining, WINDOW, WINDOW);
    tenants.decided(tenant, cost, ranked, refusal, 0);
  }

  private Figures figures() {
    return tenants.figures(0, WINDOW);
  }

  private long reservedAt(long nowMillis) {
    return tenants.figures(nowMillis, WINDOW).reserved();
  }

  private List<String> names() {
    return figures().tenants().stream().map(TenantFigures::name).toList();
  }

  private long sum() {
    return figures().tenants().stream().mapToLong(TenantFigures::admitted).sum();
  }
}
