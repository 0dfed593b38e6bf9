package io.throttlekit.tier;

import io.throttlekit.ManualTime;
import io.throttlekit.explore.Subject;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.tier.InFlightCalls.InFlightCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The real tiers of some nodes with one real store, one event at a time: a request, the arrival of
 * a call or an answer, its loss, the eviction of a cell, and a ms that passes.
 */
final class LeasingNodes implements Subject<LeasingNodes.Event> {
  private static final long START = 1_200_000;

  /**
   * The configuration of a run.
   *
   * @param requests to all nodes together; more than the bound, or no order of events could exceed
   *     it
   * @param faults whether calls and answers are lost, and a node returns all units once
   * @param coupled whether units are worth nothing once their window has ended
   */
  record Scope(
      int nodes,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults,
      boolean coupled) {

    Scope {
      if (requests <= bound(nodes, limit, batch, coupled)) {
        throw new IllegalArgumentException(requests + " requests cannot exceed the bound");
      }
    }

    /** Returns how many units may be admitted per window. */
    long bound() {
      return bound(nodes, limit, batch, coupled);
    }

    private static long bound(int nodes, long limit, long batch, boolean coupled) {
      return coupled ? limit : limit + nodes * (batch - 1);
    }
  }

  /** An event of a run. */
  record Event(String what, int node, int index) {
    @Override
    public String toString() {
      return what + (node < 0 ? "" : " " + node) + (index < 0 ? "" : "/" + index);
    }
  }

  private final Scope scope;
  private final Set<String> reached;
  private final ManualTime storeTime = new ManualTime(START);
  private final WatchedStore counters;
  private final List<SlowStore> stores = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<List<Node.Reply>> open = new ArrayList<>();
  private final List<List<Integer>> calledAt = new ArrayList<>();
  private final TreeMap<Long, Long> admitted = new TreeMap<>();
  private final TieredClaim claim;
  private int requests;
  private int ticks;
  private int evictions;

  /**
   * Creates nodes in their first state.
   *
   * @param defect of the store
   * @param reached receives the names of the events that happened
   */
  LeasingNodes(Scope scope, WatchedStore.Defect defect, Set<String> reached) {
    this.scope = scope;
    this.reached = reached;
    Tier tier = new Tier.Leased(new LeaseSize.Fixed(scope.batch()), scope.coupled(), 0, 0);
    FixedWindow window = new FixedWindow(scope.limit(), scope.windowMillis());
    this.counters = new WatchedStore(storeTime, Node.key("user"), window, defect, reached);
    this.claim = Node.claim(Role.ENFORCED, tier, "user", window, 1);
    for (int n = 0; n < scope.nodes(); n++) {
      SlowStore store = new SlowStore(counters);
      stores.add(store);
      nodes.add(new Node(store, new ManualTime(0), 10));
      open.add(new ArrayList<>());
      calledAt.add(new ArrayList<>());
    }
  }

  @Override
  public List<Event> enabled() {
    List<Event> events = new ArrayList<>();
    for (int n = 0; n < scope.nodes(); n++) {
      if (requests < scope.requests()) {
        events.add(new Event("request", n, -1));
      }
      for (int i = 0; i < stores.get(n).calls().size(); i++) {
        events.add(new Event("move", n, i));
        if (scope.faults()) {
          events.add(new Event("lose", n, i));
        }
      }
      if (scope.faults() && evictions == 0 && nodes.get(n).tiers.cells() > 0) {
        events.add(new Event("evict", n, -1));
      }
    }
    if (ticks < scope.ticks()) {
      events.add(new Event("tick", -1, -1));
    }
    return events;
  }

  @Override
  public void apply(Event event) {
    switch (event.what()) {
      case "request" -> {
        requests++;
        open.get(event.node()).add(nodes.get(event.node()).ask(claim));
        calledAt.get(event.node()).add(ticks);
      }
      case "move" -> stores.get(event.node()).move(event.index());
      case "lose" -> {
        InFlightCall<?> call = stores.get(event.node()).calls().get(event.index());
        reached.add(call.kind() + (call.hasArrived() ? ": answer lost" : ": lost"));
        stores.get(event.node()).lose(event.index());
      }
      case "evict" -> {
        evictions++;
        nodes.get(event.node()).tiers.leases.close();
      }
      default -> {
        ticks++;
        storeTime.advance(1);
        for (Node node : nodes) {
          node.time.advance(1);
          node.timer.run();
        }
      }
    }
    count();
  }

  @Override
  public Object snapshot() {
    StringBuilder text = new StringBuilder();
    text.append(ticks).append(' ').append(admitted).append(" used ").append(counters.used());
    text.append(", ").append(requests).append(" asked");
    for (int n = 0; n < scope.nodes(); n++) {
      text.append("\n    node ").append(n).append(": open ");
      text.append(calledAt.get(n)).append(", ").append(nodes.get(n).tiers.leases.toString());
      text.append(", calls ").append(stores.get(n).calls());
    }
    return text.append(" evictions ").append(evictions).toString();
  }

  @Override
  public @Nullable String broken() {
    return admitted.values().stream().anyMatch(units -> units > scope.bound())
        ? "at most " + scope.bound() + " per window"
        : null;
  }

  /** Counts leased units when they are spent, and the store's units when it decides. */
  private void count() {
    for (int n = 0; n < scope.nodes(); n++) {
      long there = stores.get(n).takeAdmittedThere();
      admitted.merge(window(storeTime.wallMillis()), there, Long::sum);
      List<Node.Reply> waiting = open.get(n);
      for (int i = waiting.size() - 1; i >= 0; i--) {
        Node.Reply reply = waiting.get(i);
        if (reply.isThere()) {
          waiting.remove(i);
          calledAt.get(n).remove(/* index */ i);
          boolean byLease =
              reply.outcome != null && reply.admitted() && reply.decidedBy() == DecidedBy.LEASE;
          admitted.merge(window(storeTime.wallMillis()), byLease ? 1L : 0L, Long::sum);
        }
      }
      look(nodes.get(n).counted);
    }
    if (admitted.containsValue(scope.bound())) {
      reached.add("window: as many admitted as may be");
    }
  }

  private void look(Node.Counted counted) {
    if (counted.riders > 0) {
      reached.add("node: a request joined a lease");
    }
    if (counted.forfeited > 0) {
      reached.add("node: units forfeited");
    }
    if (counted.late > 0) {
      reached.add("node: units too late");
    }
  }

  private long window(long millis) {
    return Math.floorDiv(millis, scope.windowMillis());
  }
}
