package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order in which waiting calls begin, so that tenants that share a counter do not starve each
 * other, however many calls some of them have.
 *
 * <p>Calls of a shared counter begin by turns of its tenants, several at once if one transaction
 * can make them together: its row has one lock. At most two transactions of a shared counter run at
 * a time, one for tenants with a listed weight and one for all others, because clients may invent
 * any number of these. PostgreSQL does not grant that lock in the order of requests, so beside each
 * transaction of listed tenants at most one of the others runs: no more can overtake it. Shared
 * counters take turns at the connections. All calls without a tenant have every second turn there,
 * because clients may also choose which counters there are.
 *
 * <p>Thread-safe and non-blocking.
 *
 * @param <T> a call, compared by identity
 */
final class Turns<T> {
  /** Tenants of one transaction: an invented one can need a query of its own under the lock. */
  static final int MAX_TENANTS = 8;

  /** Calls of one tenant in one transaction. */
  static final int MAX_OF_TENANT = 16;

  /** The place of calls without a tenant. */
  static final Place NO_TENANT = new Place(new Group(null, null, true, false), null);

  private final int maxRunning;

  // Guarded by this.
  /** The groups with waiting calls, in the order of their next turns. */
  private final Map<Group, Waiting<T>> groups = new LinkedHashMap<>();

  /** The shared counters with transactions that run. */
  private final Map<CounterKey, Row> rows = new HashMap<>();

  private int running;

  /** Whether the last turn was one of calls without a tenant. */
  private boolean othersBegan;

  /**
   * Calls that take turns with each other, or all calls without a tenant.
   *
   * @param terms of its calls: one transaction decides by the same terms
   * @param listed whether its tenants have a listed weight
   * @param together whether one transaction can make several of them
   */
  private record Group(
      @Nullable CounterKey counter, @Nullable FairTerms terms, boolean listed, boolean together) {}

  /** Where a call waits. */
  record Place(Group group, @Nullable CounterKey tenant) {
    /**
     * Returns the place of a call for a tenant of a counter.
     *
     * @param together whether one transaction can make several calls of this place's counter
     */
    static Place of(CounterKey counter, @Nullable FairTenant tenant, boolean together) {
      return tenant == null
          ? NO_TENANT
          : new Place(
              new Group(counter, tenant.terms(), tenant.weight().listed(), together), tenant.key());
    }
  }

  /**
   * Creates an object without calls.
   *
   * @param maxRunning the most transactions at a time, from 1
   */
  Turns(int maxRunning) {
    this.maxRunning = maxRunning;
  }

  /** Adds a waiting call. */
  synchronized void add(Place place, T call) {
    groups.computeIfAbsent(place.group(), _ -> new Waiting<>()).add(place.tenant(), call);
  }

  /** Removes a waiting call; returns whether it waited. */
  synchronized boolean remove(Place place, T call) {
    Waiting<T> waiting = groups.get(place.group());
    if (waiting == null || !waiting.remove(place.tenant(), call)) {
      return false;
    }
    if (waiting.isEmpty()) {
      groups.remove(place.group());
    }
    return true;
  }

  /** Returns calls whose turn has come, which begin as one transaction; empty if none may now. */
  synchronized List<T> begin() {
    Group group = running < maxRunning ? firstReady() : null;
    Waiting<T> waiting = group == null ? null : groups.remove(group);
    if (group == null || waiting == null) {
      return List.of();
    }
    running++;
    othersBegan = group.counter() == null;
    if (group.counter() != null) {
      rows.computeIfAbsent(group.counter(), _ -> new Row()).begin(group.listed());
    }
    List<T> calls =
        group.together() ? waiting.next(MAX_TENANTS, MAX_OF_TENANT) : waiting.next(1, 1);
    if (!waiting.isEmpty()) {
      groups.put(group, waiting); // behind the others
    }
    return calls;
  }

  private @Nullable Group firstReady() {
    Group others = groups.containsKey(NO_TENANT.group()) ? NO_TENANT.group() : null;
    if (others != null && !othersBegan) {
      return others;
    }
    for (Group each : groups.keySet()) { // the rows of the few before it run
      if (each.counter() != null) {
        Row row = rows.get(each.counter());
        if (row == null || row.mayBegin(each.listed())) {
          return each;
        }
      }
    }
    return others;
  }

  /**
   * Ends a transaction of calls at a place. Two transactions may begin then: the next one of listed
   * tenants, and one of unlisted tenants that waited for this end.
   */
  synchronized void end(Place place) {
    running--;
    CounterKey counter = place.group().counter();
    if (counter != null) {
      rows.computeIfPresent(counter, (_, row) -> row.end(place.group().listed()) ? null : row);
    }
  }

  /** Returns whether no call waits or runs. */
  synchronized boolean isEmpty() {
    return running == 0 && groups.isEmpty();
  }

  /** The transactions of a shared counter that run, at least one. */
  private static final class Row {
    private boolean listedRuns;
    private boolean unlistedRuns;

    /** Whether unlisted tenants have had a transaction beside the listed tenants' that runs. */
    private boolean passed;

    boolean mayBegin(boolean listed) {
      return listed ? !listedRuns : !unlistedRuns && !(listedRuns && passed);
    }

    void begin(boolean listed) {
      if (listed) {
        listedRuns = true;
        passed = unlistedRuns;
      } else {
        unlistedRuns = true;
        passed = true;
      }
    }

    /** Returns whether no transaction runs any more. */
    boolean end(boolean listed) {
      if (listed) {
        listedRuns = false;
      } else {
        unlistedRuns = false;
      }
      return !listedRuns && !unlistedRuns;
    }
  }

  /** The waiting calls of a group. */
  private static final class Waiting<T> {
    /** The tenants that have any, in the order of their next turns. */
    private final LinkedHashMap<@Nullable CounterKey, ArrayDeque<T>> tenants =
        new LinkedHashMap<>();

    void add(@Nullable CounterKey tenant, T call) {
      tenants.computeIfAbsent(tenant, _ -> new ArrayDeque<>(1)).add(call);
    }

    boolean remove(@Nullable CounterKey tenant, T call) {
      ArrayDeque<T> calls = tenants.get(tenant);
      if (calls == null || !calls.remove(call)) {
        return false;
      }
      if (calls.isEmpty()) {
        tenants.remove(tenant);
      }
      return true;
    }

    /** Removes and returns the next calls. */
    List<T> next(int maxTenants, int maxOfTenant) {
      List<T> next = new ArrayList<>();
      for (int turn = Math.min(maxTenants, tenants.size()); turn > 0; turn--) {
        Map.Entry<@Nullable CounterKey, ArrayDeque<T>> first = tenants.pollFirstEntry();
        ArrayDeque<T> calls = first.getValue();
        for (int i = 0; i < maxOfTenant && !calls.isEmpty(); i++) {
          next.add(calls.remove());
        }
        if (!calls.isEmpty()) {
          tenants.put(first.getKey(), calls); // behind the others
        }
      }
      return next;
    }

    boolean isEmpty() {
      return tenants.isEmpty();
    }
  }
}
