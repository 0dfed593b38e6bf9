package io.throttlekit.tier;

import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.explore.Subject;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The real tiers of some nodes with one real store, one event at a time: a request, the arrival of
 * a call or an answer, its loss, the eviction of a cell, and a ms that passes.
 */
final class LeasingNodes implements Subject<LeasingNodes.Event> {
  private static final long START = 1_200_000;

  /** The configuration of a run. */
  record Scope(
      int nodes,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults,
      boolean coupled) {}

  /** An event of a run. */
  record Event(String what, int node, int index) {
    @Override
    public String toString() {
      return what + (node < 0 ? "" : " " + node) + (index < 0 ? "" : "/" + index);
    }
  }

  private final Scope scope;
  private final ManualTime storeTime = new ManualTime(START);
  private final InMemoryStore counters = new InMemoryStore(storeTime, 100);
  private final List<SlowStore> stores = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<List<Node.Reply>> open = new ArrayList<>();
  private final List<List<Integer>> calledAt = new ArrayList<>();
  private final int[] requests;
  private final TreeMap<Long, Long> admitted = new TreeMap<>();
  private final TieredClaim claim;
  private int ticks;
  private int evictions;

  LeasingNodes(Scope scope) {
    this.scope = scope;
    this.requests = new int[scope.nodes()];
    Tier tier = new Tier.Leased(new LeaseSize.Fixed(scope.batch()), scope.coupled(), 0, 0);
    FixedWindow window = new FixedWindow(scope.limit(), scope.windowMillis());
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
      if (requests[n] < scope.requests()) {
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
        requests[event.node()]++;
        open.get(event.node()).add(nodes.get(event.node()).ask(claim));
        calledAt.get(event.node()).add(ticks);
      }
      case "move" -> stores.get(event.node()).move(event.index());
      case "lose" -> stores.get(event.node()).lose(event.index());
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
    text.append(ticks).append(' ').append(admitted).append(" used ").append(used());
    for (int n = 0; n < scope.nodes(); n++) {
      text.append("\n    node ").append(n).append(": ").append(requests[n]).append(" asked, open ");
      text.append(calledAt.get(n)).append(", ").append(nodes.get(n).tiers.leases.toString());
      text.append(", calls ").append(stores.get(n).calls());
    }
    return text.append(" evictions ").append(evictions).toString();
  }

  @Override
  public @Nullable String broken() {
    long most =
        scope.coupled() ? scope.limit() : scope.limit() + scope.nodes() * (scope.batch() - 1);
    return admitted.values().stream().anyMatch(units -> units > most)
        ? "at most " + most + " per window"
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
    }
  }

  private long used() {
    Charge look = new Charge(Node.key("user"), window(), 0, Overrun.COUNT);
    return scope.limit() - counters.decide(look).remaining();
  }

  private FixedWindow window() {
    return new FixedWindow(scope.limit(), scope.windowMillis());
  }

  private long window(long millis) {
    return Math.floorDiv(millis, scope.windowMillis());
  }
}
