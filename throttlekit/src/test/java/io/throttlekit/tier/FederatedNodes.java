package io.throttlekit.tier;

import io.throttlekit.Claim.Role;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.explore.Subject;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Grant;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Terms;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The real tiers of some nodes before one coordinator, and before an escrow where they are of one
 * region, one event at a time: a request, a call that arrives, an answer that does, one that is
 * lost, a call that arrives twice, a node that gives everything back, and a ms that passes.
 */
final class FederatedNodes implements Subject<FederatedNodes.Event> {
  private static final long START = 1_200_000;
  private static final String EVICT = "evict";

  /**
   * What a run is made of.
   *
   * @param together whether the nodes are of one region and share its escrow
   */
  record Scope(
      int nodes,
      boolean together,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults) {}

  /** Something that happens. */
  record Event(String what, int node, int index) {
    @Override
    public String toString() {
      return what + (node < 0 ? "" : " " + node) + (index < 0 ? "" : "/" + index);
    }
  }

  private final Scope scope;
  private final ManualTime farTime = new ManualTime(START);
  private final InMemoryCoordinator coordinator = new InMemoryCoordinator(farTime);
  private final InMemoryEscrow escrow = new InMemoryEscrow(farTime);
  private final List<Journeys> journeys = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<List<Node.Reply>> open = new ArrayList<>();
  private final List<List<Integer>> askedAt = new ArrayList<>();
  private final int[] requests;
  private final TreeMap<Long, Long> admitted = new TreeMap<>();
  private final TieredClaim claim;
  private int ticks;
  private int evictions;

  FederatedNodes(Scope scope) {
    this.scope = scope;
    this.requests = new int[scope.nodes()];
    FixedWindow window = new FixedWindow(scope.limit(), scope.windowMillis());
    Tier tier =
        new Tier.Global(
            new LeaseSize.Fixed(scope.batch()),
            0,
            0,
            new Terms("shop", List.of(window)),
            DataLoss.REFILL,
            false);
    this.claim = Node.claim(Role.ENFORCED, tier, Outage.DENY, "user", window, 1);
    for (int n = 0; n < scope.nodes(); n++) {
      Journeys far = new Journeys();
      journeys.add(far);
      ManualTime time = new ManualTime(0);
      Federation federation =
          new Federation(
              new Far(coordinator, far),
              scope.together() ? new Near(escrow, far) : null,
              time,
              new FederationSettings(scope.together() ? "eu" : "r" + n, "n" + n, 2, 1_000),
              FederationListener.NONE);
      nodes.add(new Node(new InMemoryStore(time, 10), federation, time, 10));
      open.add(new ArrayList<>());
      askedAt.add(new ArrayList<>());
    }
  }

  @Override
  public List<Event> enabled() {
    List<Event> events = new ArrayList<>();
    for (int n = 0; n < scope.nodes(); n++) {
      if (requests[n] < scope.requests()) {
        events.add(new Event("request", n, -1));
      }
      List<Journeys.Journey<?>> calls = journeys.get(n).calls();
      for (int i = 0; i < calls.size(); i++) {
        events.add(new Event("move", n, i));
        if (scope.faults()) {
          events.add(new Event("lose", n, i));
        }
        if (scope.faults() && calls.get(i).hasArrived() && !calls.get(i).isTwice()) {
          events.add(new Event("arrive twice", n, i));
        }
      }
      if (scope.faults() && evictions == 0 && nodes.get(n).tiers.cells() > 0) {
        events.add(new Event(EVICT, n, -1));
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
        askedAt.get(event.node()).add(ticks);
      }
      case "move" -> journeys.get(event.node()).move(event.index());
      case "lose" -> journeys.get(event.node()).lose(event.index());
      case "arrive twice" -> journeys.get(event.node()).arriveTwice(event.index());
      case EVICT -> {
        evictions++;
        nodes.get(event.node()).tiers.leases.close();
      }
      default -> {
        ticks++;
        farTime.advance(1);
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
    text.append(ticks).append(' ').append(admitted).append(' ').append(coordinator);
    text.append(' ').append(escrow);
    for (int n = 0; n < scope.nodes(); n++) {
      text.append("\n    node ").append(n).append(": ").append(requests[n]).append(" asked, open ");
      text.append(askedAt.get(n)).append(", ").append(nodes.get(n).tiers.leases.inWords());
      text.append(", calls ").append(journeys.get(n).calls());
    }
    return text.append(" evictions ").append(evictions).toString();
  }

  @Override
  public @Nullable String broken() {
    return admitted.values().stream().anyMatch(units -> units > scope.limit())
        ? "at most " + scope.limit() + " per window"
        : null;
  }

  private void count() {
    for (int n = 0; n < scope.nodes(); n++) {
      List<Node.Reply> waiting = open.get(n);
      for (int i = waiting.size() - 1; i >= 0; i--) {
        Node.Reply reply = waiting.get(i);
        if (reply.isThere()) {
          waiting.remove(i);
          askedAt.get(n).remove(/* index */ i);
          long window = Math.floorDiv(farTime.wallMillis(), scope.windowMillis());
          admitted.merge(window, reply.admitted() ? 1L : 0L, Long::sum);
        }
      }
    }
  }

  private record Far(GlobalCoordinator coordinator, Journeys journeys)
      implements GlobalCoordinator {
    @Override
    public CompletionStage<Grant> lease(BudgetLease lease) {
      return journeys.travel(
          "lease " + lease.units() + " until " + lease.windowEndMillis(),
          () -> coordinator.lease(lease).toCompletableFuture().join());
    }

    @Override
    public CompletionStage<Boolean> reconcile(BudgetReturn units) {
      return journeys.travel(
          "return " + units.units() + " of " + units.windowEndMillis(),
          () -> coordinator.reconcile(units).toCompletableFuture().join());
    }

    @Override
    public CompletionStage<Long> health() {
      return coordinator.health();
    }

    @Override
    public void close() {}
  }

  private record Near(RegionalEscrow escrow, Journeys journeys) implements RegionalEscrow {
    @Override
    public CompletionStage<EscrowGrant> lease(CounterKey key, long units) {
      return journeys.travel(
          "take " + units, () -> escrow.lease(key, units).toCompletableFuture().join());
    }

    @Override
    public CompletionStage<Boolean> refill(EscrowRefill refill) {
      return journeys.travel(
          "refill %d until %d".formatted(refill.units(), refill.endsMillis()),
          () -> escrow.refill(refill).toCompletableFuture().join());
    }

    @Override
    public CompletionStage<Long> release(CounterKey key, long windowEndMillis) {
      return journeys.travel(
          "release " + windowEndMillis,
          () -> escrow.release(key, windowEndMillis).toCompletableFuture().join());
    }

    @Override
    public CompletionStage<Long> health() {
      return escrow.health();
    }

    @Override
    public void close() {}
  }
}
