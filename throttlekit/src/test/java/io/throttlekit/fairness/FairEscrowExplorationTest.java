package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.explore.Subject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The real escrow in every order of requests and windows, with the invariants of {@code
 * FairEscrow.tla}. It has as many states as the model.
 */
@Tag("exploration")
class FairEscrowExplorationTest {
  private static final long WINDOW = 1_000;
  private static final int TENANTS = 3;
  private static final int WINDOWS = 3;
  private static final long MAX_STATES = 200_000;

  @ParameterizedTest(name = "limit {0}, costs to {1}, invented from tenant {2} on")
  @CsvSource({"5, 2, 3, 1087", "5, 1, 3, 849", "4, 1, 1, 571", "5, 2, 1, 1113", "7, 2, 2, 2015"})
  void keepsEveryInvariantInAsManyStatesAsTheModel(
      int limit, int maxCost, int inventedFrom, long distinct) {
    Set<String> reached = new HashSet<>();
    Exploration seen = explore(limit, maxCost, inventedFrom, Defect.NONE, reached);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isEqualTo(distinct);
    assertThat(reached)
        .contains(
            "the whole limit is admitted",
            "a tenant borrows",
            "a request is refused while units are left",
            "a tenant joins when others have used units");
  }

  @ParameterizedTest(name = "{0}: {4}")
  @CsvSource({
    "LIMIT_TOO_HIGH, 5, 2, 3, WithinLimit",
    "RESERVES_FORGOTTEN, 5, 1, 3, Reserved",
    "NONE_INVENTED, 4, 1, 1, Shielded",
    "CHARGED_TWICE, 5, 1, 3, Late",
  })
  void findsADefect(Defect defect, int limit, int maxCost, int inventedFrom, String broken) {
    assertThat(explore(limit, maxCost, inventedFrom, defect, new HashSet<>()).broken())
        .isEqualTo(broken);
  }

  private static Exploration explore(
      int limit, int maxCost, int inventedFrom, Defect defect, Set<String> reached) {
    return Explorer.explore(
        new Replay<>(() -> new Pool(limit, maxCost, inventedFrom, defect, reached)), MAX_STATES);
  }

  /** A fault beside the escrow that an exploration must find. */
  enum Defect {
    NONE,
    /** The escrow has one unit more than the limit. */
    LIMIT_TOO_HIGH,
    /** A request is admitted although its units are reserved for other tenants. */
    RESERVES_FORGOTTEN,
    /** The escrow takes invented tenants for listed ones. */
    NONE_INVENTED,
    /** An admitted request is charged once more. */
    CHARGED_TWICE
  }

  /** A request, or the beginning of a window if {@code cost} is 0. */
  private record Event(int tenant, int cost) {}

  /** What the invariants depend on. */
  private record Snapshot(
      long window,
      List<Long> used,
      Set<Integer> seen,
      Set<Integer> last,
      boolean disturbed,
      boolean invaded) {}

  private static final class Pool implements Subject<Event> {
    private final int limit;
    private final int maxCost;
    private final int inventedFrom;
    private final Defect defect;
    private final Set<String> reached;
    private final WeightedFairEscrow escrow;
    private final CounterKey[] keys = Keys.tenants(TENANTS);
    private long window = 1;
    private long admitted;
    private Set<Integer> seen = new TreeSet<>();
    private Set<Integer> last = new TreeSet<>();
    private boolean disturbed;
    private boolean invaded;
    private boolean late;

    Pool(int limit, int maxCost, int inventedFrom, Defect defect, Set<String> reached) {
      this.limit = limit;
      this.maxCost = maxCost;
      this.inventedFrom = inventedFrom;
      this.defect = defect;
      this.reached = reached;
      int more = defect == Defect.LIMIT_TOO_HIGH ? 1 : 0;
      this.escrow = new WeightedFairEscrow(FairTerms.of(limit + more, WINDOW));
    }

    @Override
    public List<Event> enabled() {
      List<Event> events = new ArrayList<>();
      if (window < WINDOWS) {
        events.add(new Event(0, 0));
      }
      for (int tenant = 0; tenant < TENANTS; tenant++) {
        for (int cost = 1; cost <= maxCost; cost++) {
          events.add(new Event(tenant, cost));
        }
      }
      return events;
    }

    @Override
    public void apply(Event event) {
      if (event.cost() == 0) {
        window++;
        admitted = 0;
        last = seen;
        seen = new TreeSet<>();
        disturbed = false;
        invaded = false;
      } else {
        request(event.tenant(), event.cost());
      }
    }

    private void request(int tenant, int cost) {
      boolean joins = !seen.contains(tenant) && !last.contains(tenant);
      disturbed |= joins && isListed(tenant);
      invaded |= joins && !isListed(tenant);
      seen.add(tenant);
      if (joins && admitted > 0) {
        reached.add("a tenant joins when others have used units");
      }
      FairDecision decision = escrow.tryAcquire(keys[tenant], weight(tenant), cost, now());
      long used = state(tenant).used();
      boolean fits = cost <= limit - admitted;
      late |=
          isListed(tenant) && !decision.admitted() && used + cost <= decision.guarantee() && fits;
      if (!decision.admitted() && fits) {
        reached.add("a request is refused while units are left");
      }
      boolean admits = decision.admitted() || (defect == Defect.RESERVES_FORGOTTEN && fits);
      if (admits) {
        admitted += cost;
        if (defect == Defect.CHARGED_TWICE) {
          var _ = escrow.charge(keys[tenant], weight(tenant), cost, Overrun.OVERDRAFT, now());
        }
      }
      if (used > decision.guarantee()) {
        reached.add("a tenant borrows");
      }
      if (admitted == limit) {
        reached.add("the whole limit is admitted");
      }
    }

    @Override
    public Object snapshot() {
      List<Long> used = new ArrayList<>();
      for (int tenant = 0; tenant < TENANTS; tenant++) {
        used.add(state(tenant).used());
      }
      return new Snapshot(
          window, used, new TreeSet<>(seen), new TreeSet<>(last), disturbed, invaded);
    }

    @Override
    public @Nullable String broken() {
      long left = limit - admitted;
      if (left < 0 || late) {
        return left < 0 ? "WithinLimit" : "Late";
      }
      if (!disturbed && !invaded && reserve(false) > left + maxCost - 1) {
        return "Reserved";
      }
      return !disturbed && reserve(true) > left + maxCost - 1 ? "Shielded" : null;
    }

    private long reserve(boolean listedOnly) {
      long reserve = 0;
      for (int tenant = 0; tenant < TENANTS; tenant++) {
        TenantState state = state(tenant);
        if (state.active() != (seen.contains(tenant) || last.contains(tenant))) {
          throw new IllegalStateException("tenant " + tenant + " is in the wrong set");
        }
        if (state.active() && (isListed(tenant) || !listedOnly)) {
          reserve += Math.max(0, state.guarantee() - state.used());
        }
      }
      return reserve;
    }

    private TenantState state(int tenant) {
      return escrow.peek(keys[tenant], weight(tenant), now());
    }

    private boolean isListed(int tenant) {
      return tenant < inventedFrom;
    }

    private TenantWeight weight(int tenant) {
      boolean listed = isListed(tenant) || defect == Defect.NONE_INVENTED;
      return new TenantWeight(tenant == 0 ? 2 : 1, listed);
    }

    private long now() {
      return window * WINDOW;
    }
  }
}
