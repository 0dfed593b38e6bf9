package io.throttlekit.service.telemetry.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.service.telemetry.fairness.TopTenants.Figures;
import io.throttlekit.service.telemetry.fairness.TopTenants.TenantFigures;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TopTenantsTest {
  private static final long WINDOW = 1_000;

  private final TopTenants tenants = new TopTenants(new ManualTime(0));

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
  void longNamesAreCut() {
    admit("x".repeat(10_000), 1, 100, 99);
    assertThat(names()).containsExactly("x".repeat(TopTenants.MAX_NAME));
  }

  @Test
  void aTenantNamedAsTheOthersHasALabelOfItsOwn() {
    admit("other", 3, 100, 97);
    assertThat(names()).containsExactly("\\other");
    for (int i = 0; i < 40; i++) {
      admit("t" + i, 1, 100, 99);
    }
    assertThat(admitted("\\other")).isEqualTo(3);
    assertThat(admitted("other")).as("all but t0 to t8").isEqualTo(31);
  }

  @Test
  void differentNamesHaveDifferentPrintableLabels() {
    List<String> names =
        List.of(
            "a\0", "a\1", "a\\u{0}", "a\n", "a\uFFFD", "\\other", "other", "a\uD800", "a\uDBFF");
    names.forEach(name -> admit(name, 1, 100, 99));
    assertThat(names())
        .containsExactly(
            "a\\u{0}",
            "a\\u{1}",
            "a\\\\u{0}",
            "a\\u{a}",
            "a\uFFFD",
            "\\\\other",
            "\\other",
            "a\\u{d800}",
            "a\\u{dbff}");
  }

  @Test
  void sumsAreExactWhenThreadsCountAtTheSameTime() throws InterruptedException {
    int requests = 30_000;
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      boolean known = t < 2; // the others invent tenants, which take places from each other
      String name = "invented" + t + '-';
      threads[t] =
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 0; i < requests; i++) {
                  String tenant = known ? "known" + i % 5 : name + i;
                  if (i % 3 == 0) {
                    refuse(tenant, 2, 2, 10, 0);
                  } else {
                    admit(tenant, known ? 3 : 1, 100, 50);
                  }
                }
              });
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(figures().refused()).isEqualTo(4L * requests / 3 * 2);
    assertThat(tenants.size()).isEqualTo(TopTenants.MAX_TRACKED);
    assertThat(names()).hasSize(TopTenants.MAX_SHOWN + 1).contains("known0", "known4");
  }

  @Test
  void theUnitsOfShownTenantsAreExactWhenThreadsCountAtTheSameTime() throws InterruptedException {
    int requests = 30_000;
    Runnable counting =
        () -> {
          for (int i = 0; i < requests; i++) {
            admit("t" + i % 5, 3, 100, 50);
          }
        };
    Thread[] threads = {Thread.ofPlatform().start(counting), Thread.ofPlatform().start(counting)};
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(names()).containsExactly("t0", "t1", "t2", "t3", "t4");
    assertThat(sum()).isEqualTo(2L * requests * 3);
  }

  @Test
  void countingATenantAllocatesNothing() {
    for (int i = 0; i < TopTenants.MAX_TRACKED; i++) {
      admit("t" + i, 1, 100, 99);
    }
    Decision admitted = Decision.admit(100, 99, WINDOW);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long bytes = 0;
    for (int round = 0; round < 2; round++) { // the first one loads classes
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 20_000; i++) {
        tenants.decided("t0", 1, 1, admitted);
        tenants.decided("t20", 1, 1, admitted);
      }
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(bytes).isLessThan(20_000);
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
    tenants.decided("a", 1, 1, Decision.admit(700, 700, 0));
    assertThat(reservedAt(0)).isZero();
    assertThat(figures().tenants().getFirst()).isEqualTo(new TenantFigures("a", 1, 0, 0, -1));
  }

  private void admit(String tenant, long cost, long limit, long remaining) {
    tenants.decided(tenant, cost, cost, Decision.admit(limit, remaining, WINDOW));
  }

  private void refuse(String tenant, long cost, long ranked, long limit, long remaining) {
    Decision refusal = Decision.refuse(limit, remaining, WINDOW, WINDOW);
    tenants.decided(tenant, cost, ranked, refusal);
  }

  private Figures figures() {
    return tenants.figures(0, WINDOW);
  }

  private long reservedAt(long nowMillis) {
    return tenants.figures(nowMillis, WINDOW).reserved();
  }

  private List<String> names() {
    return figures().tenants().stream().map(TenantFigures::label).toList();
  }

  private long admitted(String label) {
    return figures().tenants().stream()
        .filter(tenant -> tenant.label().equals(label))
        .mapToLong(TenantFigures::admitted)
        .sum();
  }

  private long sum() {
    return figures().tenants().stream().mapToLong(TenantFigures::admitted).sum();
  }
}
