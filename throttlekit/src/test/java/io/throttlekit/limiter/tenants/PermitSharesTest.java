package io.throttlekit.limiter.tenants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.limiter.tenants.ScannedShares.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PermitSharesTest {
  private static final int STEPS = 1_000;
  private static final long SECOND = 1_000_000_000;
  private static final TenantTerms HALF = new TenantTerms(FairTerms.ALL / 2, 1_000, SECOND);

  @Test
  void partsAreByWeightAndRoundedDown() {
    PermitShares<Integer> shares = new PermitShares<>(HALF);
    arrive(shares, listed("gold", 4), listed("silver", 2), listed("bronze", 1));
    assertThat(part(shares, listed("gold", 4), 700)).isEqualTo(400);
    assertThat(part(shares, listed("gold", 4), 10)).isEqualTo(5);
    assertThat(part(shares, listed("silver", 2), 10)).isEqualTo(2);
    assertThat(part(shares, listed("bronze", 1), 10)).isEqualTo(1);
  }

  @Test
  void eachTenantHasAtLeastOnePermitIfThereAreEnough() {
    PermitShares<Integer> shares = new PermitShares<>(HALF);
    arrive(shares, listed("large", 100), listed("a", 1), listed("b", 1));
    assertThat(part(shares, listed("a", 1), 4)).isEqualTo(1);
    assertThat(part(shares, listed("large", 100), 4)).isEqualTo(2);
    assertThat(part(shares, listed("a", 1), 3)).isEqualTo(1);
    assertThat(part(shares, listed("large", 100), 3)).isEqualTo(1);
    assertThat(part(shares, listed("a", 1), 2)).isZero();
    assertThat(part(shares, listed("large", 100), 2)).isEqualTo(1);
  }

  @Test
  void tenantsWithoutAListedWeightHaveAtMostTheirPartTogether() {
    PermitShares<Integer> shares = new PermitShares<>(HALF);
    arrive(shares, listed("paying", 1_000));
    for (int i = 0; i < 6; i++) {
      arrive(shares, unlisted("invented " + i));
    }
    // One permit for each of the six would be more than half.
    assertThat(part(shares, listed("paying", 1_000), 10)).isEqualTo(5);
    assertThat(part(shares, unlisted("invented 0"), 10)).isZero();
    assertThat(part(shares, unlisted("invented 0"), 12)).isEqualTo(1);
    assertThat(part(shares, listed("paying", 1_000), 100)).isEqualTo(94);
  }

  @Test
  void partsOfLargeWeightsAreExact() {
    PermitShares<Integer> shares = new PermitShares<>(HALF);
    arrive(shares, listed("a", TenantWeight.MAX), listed("b", TenantWeight.MAX - 1));
    int most = (1 << 24) - 1;
    assertThat(part(shares, listed("a", TenantWeight.MAX), most)).isEqualTo(most / 2);
    assertThat(part(shares, listed("b", TenantWeight.MAX - 1), most)).isEqualTo(most / 2);
  }

  @Test
  void idleTenantsAreBoundedAndThoseWithAListedWeightAreForgottenLast() {
    PermitShares<Integer> shares = new PermitShares<>(new TenantTerms(0, 10, SECOND));
    shares.took(shares.arrived(unlisted("busy"), 0));
    arrive(shares, listed("paying", 1));
    for (int i = 0; i < 1_000; i++) {
      arrive(shares, unlisted("invented " + i));
      assertThat(shares.figures(100, 1, 0).tenants()).isLessThanOrEqualTo(12);
    }
    assertThat(shares.peek(unlisted("busy"), 100, 1, 0).inFlight()).isEqualTo(1);
    assertThat(part(shares, listed("paying", 1), 100)).as("still reserved").isEqualTo(100);
    assertThat(shares.figures(100, 1, 0).reserved()).isEqualTo(100);
    for (int i = 0; i < 1_000; i++) {
      arrive(shares, listed("also paying " + i, 1));
      assertThat(shares.figures(100, 1, 0).tenants()).isLessThanOrEqualTo(12);
    }
  }

  @Test
  void aPeekMakesNoTenantActive() {
    PermitShares<Integer> shares = new PermitShares<>(HALF);
    arrive(shares, listed("a", 1));
    assertThat(part(shares, listed("b", 3), 100)).isEqualTo(75);
    assertThat(part(shares, listed("a", 3), 100)).as("with another weight").isEqualTo(100);
    assertThat(shares.figures(100, 0, 0)).isEqualTo(new ShareFigures(1, 100, 0));
  }

  @Test
  void termsAreChecked() {
    assertThatThrownBy(() -> new TenantTerms(1_000_001, 1, 1)).hasMessageContaining("1000001");
    assertThatThrownBy(() -> new TenantTerms(0, 0, 1)).hasMessageContaining("0 and 1");
    assertThatThrownBy(() -> new TenantTerms(0, 1, 0)).hasMessageContaining("1 and 0");
  }

  /** Any order of requests, ends and changes; every decision is that of a scan of all tenants. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 20_261_126})
  void decidesAsAScanOfAllTenantsDoes(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    new SideBySide(random).run();
  }

  /** The shares and the scan of all tenants. */
  private static final class SideBySide {
    private final RandomGenerator random;
    private final TenantTerms terms;
    private final PermitShares<Integer> shares;
    private final ScannedShares scan;
    private final Map<Integer, Tenant<Integer>> waiting = new HashMap<>();
    private final List<Tenant<Integer>> inFlight = new ArrayList<>();
    private int limit = 20;
    private int requests;
    private long nanos;
    private int held;
    private int lent;

    SideBySide(RandomGenerator random) {
      this.random = random;
      this.terms = new TenantTerms(random.nextInt(4) * 250_000, 1_000, SECOND);
      this.shares = new PermitShares<>(terms);
      this.scan = new ScannedShares(terms);
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3, 4 -> ask(tenant());
          case 5, 6 -> end();
          case 7 -> cancel();
          case 8 -> nanos += random.nextLong(SECOND / 2);
          default -> limit = Math.max(0, limit + random.nextInt(9) - 4);
        }
        shares.expire(nanos);
        scan.expire(nanos);
        serve();
        compare();
      }
      assertThat(held).as("requests held back").isPositive();
      assertThat(lent).as("permits above a part").isPositive();
    }

    private PermitTenant tenant() {
      int number = random.nextInt(12);
      boolean changes = random.nextInt(20) == 0;
      long weight = changes ? 1 + random.nextInt(4) : 1 + number % 4 * (number % 3);
      return number < 8 ? listed("t" + number, weight) : unlisted("t" + number);
    }

    private void ask(PermitTenant of) {
      Tenant<Integer> tenant = shares.arrived(of, nanos);
      Member member = scan.arrived(of, nanos);
      boolean admitted = shares.admits(tenant, limit, inFlight.size());
      assertThat(admitted).isEqualTo(scan.admits(member, limit));
      if (admitted) {
        take(tenant, member);
      } else {
        held += inFlight.size() < limit ? 1 : 0;
        if (random.nextBoolean()) {
          shares.add(tenant, requests);
          waiting.put(requests, tenant);
          member.waiting.add(requests++);
        }
      }
    }

    private void take(Tenant<Integer> tenant, Member member) {
      lent += member.inFlight >= tenant.group.part() ? 1 : 0;
      shares.took(tenant);
      inFlight.add(tenant);
      member.inFlight++;
    }

    private void end() {
      if (!inFlight.isEmpty()) {
        Tenant<Integer> tenant = inFlight.remove(random.nextInt(inFlight.size()));
        shares.released(tenant, nanos);
        Member member = member(tenant);
        member.inFlight--;
        member.activeNanos = nanos;
      }
    }

    private void cancel() {
      List<Integer> all = waiting.keySet().stream().sorted().toList();
      if (!all.isEmpty()) {
        leave(all.get(random.nextInt(all.size())));
      }
    }

    private void leave(Integer request) {
      Tenant<Integer> tenant = Objects.requireNonNull(waiting.remove(request));
      shares.remove(tenant, request, nanos);
      member(tenant).waiting.remove(/* element */ request);
      member(tenant).activeNanos = nanos;
    }

    private void serve() {
      while (true) {
        Integer next = next();
        assertThat(next == null ? -1 : next).isEqualTo(scan.next(limit));
        if (next == null) {
          return;
        }
        Tenant<Integer> tenant = Objects.requireNonNull(waiting.get(next));
        take(tenant, member(tenant));
        leave(next);
      }
    }

    private @Nullable Integer next() {
      Integer first = waiting.keySet().stream().min(Integer::compare).orElse(null);
      return shares.next(first, limit, inFlight.size());
    }

    private void compare() {
      Map<Member, Integer> parts = scan.parts(limit);
      assertThat(parts.values().stream().mapToInt(each -> each).sum()).isLessThanOrEqualTo(limit);
      scan.members.forEach((name, member) -> {
        TenantFigures figures =
            shares.peek(new PermitTenant(name, member.weight), limit, inFlight.size(), nanos);
        assertThat(figures.part()).as(name).isEqualTo(parts.get(member));
        assertThat(figures.inFlight()).isEqualTo(member.inFlight);
        assertThat(figures.waiting()).isEqualTo(member.waiting.size());
        assertThat(figures.free() > 0).isEqualTo(scan.admits(member, limit));
      });
      ShareFigures all = shares.figures(limit, inFlight.size(), nanos);
      assertThat(all.tenants()).isEqualTo(scan.members.size());
      assertThat(all.reserved()).isEqualTo(scan.reserve(limit));
      assertThat(all.borrowed())
          .isEqualTo(
              parts.entrySet().stream()
                  .mapToLong(each -> Math.max(0, each.getKey().inFlight - each.getValue()))
                  .sum());
    }

    private Member member(Tenant<Integer> tenant) {
      return Objects.requireNonNull(scan.find(tenant.name));
    }
  }

  private static void arrive(PermitShares<Integer> shares, PermitTenant... tenants) {
    for (PermitTenant each : tenants) {
      var _ = shares.arrived(each, 0);
    }
  }

  private static int part(PermitShares<Integer> shares, PermitTenant tenant, int limit) {
    return shares.peek(tenant, limit, 0, 0).part();
  }

  private static PermitTenant listed(String name, long weight) {
    return new PermitTenant(name, TenantWeight.listed(weight));
  }

  private static PermitTenant unlisted(String name) {
    return new PermitTenant(name, TenantWeight.unlisted(1));
  }
}
