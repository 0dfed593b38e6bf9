package io.throttlekit.limiter.tenants;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.explore.Subject;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The real shares in every order of requests, ends and limits, with the promises of {@code
 * PermitShares.tla}. They have as many states as the model.
 */
@Tag("exploration")
class PermitSharesExplorationTest {
  private static final int TENANTS = 3;
  private static final int MAX_WAITING = 2;
  private static final long SECOND = 1_000_000_000;
  private static final long MAX_STATES = 20_000;

  @ParameterizedTest(name = "limits {0} and {1}, invented from tenant {2} on")
  @CsvSource({"2, 4, 3, 1632", "3, 4, 1, 1632", "0, 3, 3, 1014", "2, 3, 1, 1014"})
  void keepTheirPromisesInAsManyStatesAsTheModel(
      int low, int high, int inventedFrom, long distinct) {
    Set<String> reached = new HashSet<>();
    Exploration seen = explore(low, high, inventedFrom, Defect.NONE, reached);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isEqualTo(distinct);
    assertThat(reached)
        .contains(
            "the whole limit is in flight",
            "more is in flight than the limit",
            "a tenant borrows",
            "a request waits while a permit is free",
            "a request overtakes another one in the queue");
  }

  @ParameterizedTest(name = "{0}: {4}")
  @CsvSource({
    "LIMIT_TOO_HIGH, 2, 4, 3, BelowLimit",
    "RESERVES_FORGOTTEN, 2, 4, 3, StaysCovered",
    "LATEST_FIRST, 2, 4, 3, InOrder",
    "PARTS_FORGOTTEN, 2, 4, 3, Sure",
    "NONE_INVENTED, 3, 4, 1, Half",
    "LEFT_UNNOTICED, 2, 4, 3, active tenants",
  })
  void findsADefect(Defect defect, int low, int high, int inventedFrom, String broken) {
    assertThat(explore(low, high, inventedFrom, defect, new HashSet<>()).broken())
        .isEqualTo(broken);
  }

  private static Exploration explore(
      int low, int high, int inventedFrom, Defect defect, Set<String> reached) {
    return Explorer.explore(
        new Replay<>(() -> new Shares(List.of(low, high), inventedFrom, defect, reached)),
        MAX_STATES);
  }

  /** A fault beside the shares that an exploration must find. */
  enum Defect {
    NONE,
    /** Permits are granted as if the limit were higher by one. */
    LIMIT_TOO_HIGH,
    /** A permit is granted although it is reserved for another tenant. */
    RESERVES_FORGOTTEN,
    /** The request that came last is served first. */
    LATEST_FIRST,
    /** A tenant whose part is not in flight gets only what is not reserved. */
    PARTS_FORGOTTEN,
    /** Invented tenants are taken for listed ones. */
    NONE_INVENTED,
    /** A tenant that has been idle is not forgotten. */
    LEFT_UNNOTICED
  }

  private enum Kind {
    ARRIVE,
    TAKE,
    WAIT,
    SERVE,
    WITHDRAW,
    RELEASE,
    FORGET,
    CHANGE
  }

  /**
   * An event.
   *
   * @param number the tenant, the place in the queue, or the limit
   */
  private record Event(Kind kind, int number) {}

  /** What the rules depend on. */
  private record Snapshot(
      int limit, Set<Integer> active, List<Integer> inFlight, List<Integer> queue) {}

  private static final class Shares implements Subject<Event> {
    private final List<Integer> limits;
    private final int inventedFrom;
    private final Defect defect;
    private final Set<String> reached;
    private final PermitShares<Integer> shares =
        new PermitShares<>(new TenantTerms(FairTerms.ALL / 2, TENANTS, SECOND));
    private final int[] inFlight = new int[TENANTS];

    /** The tenants of the requests that wait, in the order of arrival. */
    private final Map<Integer, Integer> queue = new LinkedHashMap<>();

    private final Set<Integer> active = new TreeSet<>();
    private int limit;
    private int requests;
    private long nanos;
    private @Nullable String broken;

    Shares(List<Integer> limits, int inventedFrom, Defect defect, Set<String> reached) {
      this.limits = limits;
      this.inventedFrom = inventedFrom;
      this.defect = defect;
      this.reached = reached;
      this.limit = limits.getFirst();
    }

    @Override
    public List<Event> enabled() {
      List<Event> events = new ArrayList<>();
      limits.forEach(each -> events.add(new Event(Kind.CHANGE, each)));
      boolean mayServe = next() != null;
      if (mayServe) {
        events.add(new Event(Kind.SERVE, 0));
      }
      for (int i = 0; i < queue.size(); i++) {
        events.add(new Event(Kind.WITHDRAW, i));
      }
      for (int tenant = 0; tenant < TENANTS; tenant++) {
        if (!active.contains(tenant)) {
          events.add(new Event(Kind.ARRIVE, tenant));
          continue;
        }
        if (!mayServe && admits(tenant)) {
          events.add(new Event(Kind.TAKE, tenant));
        }
        if (queue.size() < MAX_WAITING) {
          events.add(new Event(Kind.WAIT, tenant));
        }
        if (inFlight[tenant] > 0) {
          events.add(new Event(Kind.RELEASE, tenant));
        } else if (!queue.containsValue(tenant)) {
          events.add(new Event(Kind.FORGET, tenant));
        }
      }
      return events;
    }

    @Override
    public void apply(Event event) {
      int number = event.number();
      switch (event.kind()) {
        case CHANGE -> limit = number;
        case ARRIVE -> arrive(number);
        case TAKE -> take(number, arrive(number));
        case WAIT -> wait(number);
        case SERVE -> serve();
        case WITHDRAW -> leave(List.copyOf(queue.keySet()).get(number));
        case RELEASE -> {
          boolean covered = isCovered();
          Tenant<Integer> tenant = arrive(number);
          inFlight[number]--;
          shares.released(tenant, nanos);
          staysCovered(covered);
        }
        case FORGET -> forget(number);
      }
    }

    private Tenant<Integer> arrive(int tenant) {
      active.add(tenant);
      return shares.arrived(tenantOf(tenant), nanos);
    }

    private void take(int number, Tenant<Integer> tenant) {
      boolean covered = isCovered();
      boolean lent = !isBelow(number);
      if (inFlight() >= limit) {
        breaks("BelowLimit");
      }
      shares.took(tenant);
      inFlight[number]++;
      if (lent) {
        reached.add("a tenant borrows");
      }
      staysCovered(covered);
      if (lent && !isCovered()) {
        breaks("LentWhenCovered");
      }
    }

    private void wait(int number) {
      shares.add(arrive(number), requests);
      queue.put(requests++, number);
    }

    private void serve() {
      Integer next = next();
      if (next == null || next != expected()) {
        breaks("InOrder");
        return;
      }
      int number = waiting(next);
      if (!next.equals(queue.keySet().iterator().next())) {
        reached.add("a request overtakes another one in the queue");
      }
      take(number, arrive(number));
      leave(next);
    }

    /** Returns the waiting request that comes first by the promise. */
    private int expected() {
      List<Integer> may = queue.keySet().stream().filter(each -> admits(waiting(each))).toList();
      return may.stream()
          .filter(each -> isBelow(waiting(each)))
          .findFirst()
          .orElseGet(() -> may.isEmpty() ? -1 : may.getFirst());
    }

    private void leave(Integer request) {
      int number = waiting(request);
      shares.remove(arrive(number), request, nanos);
      queue.remove(request);
    }

    private int waiting(Integer request) {
      return Objects.requireNonNull(queue.get(request));
    }

    /** Lets all other tenants send a request just before this one has been idle for a second. */
    private void forget(int number) {
      if (defect != Defect.LEFT_UNNOTICED) {
        nanos += SECOND - 1;
        active.stream().filter(each -> each != number).forEach(this::arrive);
        nanos++;
        shares.expire(nanos);
      }
      active.remove(number);
    }

    /** Keeps the first promise that is broken. */
    private void breaks(String promise) {
      broken = broken == null ? promise : broken;
    }

    private void staysCovered(boolean before) {
      if (before && !isCovered()) {
        breaks("StaysCovered");
      }
    }

    @Override
    public Object snapshot() {
      return new Snapshot(
          limit,
          new TreeSet<>(active),
          Arrays.stream(inFlight).boxed().toList(),
          List.copyOf(queue.values()));
    }

    @Override
    public @Nullable String broken() {
      if (broken != null) {
        return broken;
      }
      look();
      if (shares.figures(limit, inFlight(), nanos).tenants() != active.size()) {
        return "active tenants";
      }
      boolean sure = isCovered() || active.stream().allMatch(each -> inFlight[each] <= part(each));
      for (int tenant : active) {
        boolean listed = tenant < inventedFrom && inFlight() < limit;
        if ((sure || listed) && isBelow(tenant) && !admits(tenant)) {
          return sure ? "Sure" : "Listed";
        }
      }
      boolean invented = active.stream().anyMatch(each -> each >= inventedFrom);
      if (!invented
          && active.size() <= limit
          && active.stream().anyMatch(each -> part(each) == 0)) {
        return "AtLeastOne";
      }
      int others = active.stream().filter(each -> each >= inventedFrom).mapToInt(this::part).sum();
      boolean alone = active.stream().allMatch(each -> each >= inventedFrom);
      return !alone && others > limit / 2 ? "Half" : null;
    }

    private void look() {
      if (inFlight() == limit) {
        reached.add("the whole limit is in flight");
      } else if (inFlight() > limit) {
        reached.add("more is in flight than the limit");
      } else if (!queue.isEmpty() && next() == null) {
        reached.add("a request waits while a permit is free");
      }
    }

    private @Nullable Integer next() {
      List<Integer> waiting = List.copyOf(queue.keySet());
      Integer first = waiting.isEmpty() ? null : waiting.getFirst();
      Integer next = shares.next(first, limit, inFlight());
      return next != null && defect == Defect.LATEST_FIRST ? waiting.getLast() : next;
    }

    private boolean isCovered() {
      return inFlight() + shares.figures(limit, inFlight(), nanos).reserved() <= limit;
    }

    private boolean isBelow(int tenant) {
      return inFlight[tenant] < part(tenant);
    }

    private int part(int tenant) {
      return figures(tenant).part();
    }

    private boolean admits(int tenant) {
      return switch (defect) {
        case LIMIT_TOO_HIGH -> inFlight() <= limit;
        case RESERVES_FORGOTTEN -> inFlight() < limit;
        case PARTS_FORGOTTEN -> figures(tenant).free() > 0 && !isBelow(tenant);
        default -> figures(tenant).free() > 0;
      };
    }

    private TenantFigures figures(int tenant) {
      TenantFigures figures = shares.peek(tenantOf(tenant), limit, inFlight(), nanos);
      if (figures.inFlight() != inFlight[tenant]) {
        throw new IllegalStateException("tenant " + tenant + " has " + figures);
      }
      return figures;
    }

    private int inFlight() {
      return IntStream.of(inFlight).sum();
    }

    private PermitTenant tenantOf(int tenant) {
      return new PermitTenant(
          "t" + tenant,
          new TenantWeight(
              tenant == 0 ? 2 : 1, tenant < inventedFrom || defect == Defect.NONE_INVENTED));
    }
  }
}
