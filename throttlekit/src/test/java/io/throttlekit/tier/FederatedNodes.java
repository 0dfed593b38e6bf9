package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.explore.Subject;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.InFlightCalls.InFlightCall;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The real tiers of some nodes with one coordinator, and an escrow if they are of one region, one
 * event at a time: a request, the arrival of a call or an answer, its loss, a duplicate, a node
 * that returns all units, and some ms that pass.
 */
final class FederatedNodes implements Subject<FederatedNodes.Event> {
  private static final long START = 1_200_000;
  private static final long ESCROW_AHEAD_MILLIS = 7;
  private static final int REGIONAL_LEASES = 2;
  private static final String EVICT = "evict";
  private static final long WAIT_TIMEOUT_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Node.PATIENCE_MILLIS);

  /** Ids of answered calls, which the calls in flight determine. */
  private static final Pattern IDS = Pattern.compile("\\[[^]]*]");

  private static final Pattern RECORDS = Pattern.compile("\\d{10,}=[^,}]*(, \\d{10,}=[^,}]*)*");

  /**
   * The configuration of a run.
   *
   * @param together whether the nodes are of one region and share its escrow
   * @param limit units per window, leased one batch at a time
   * @param beginMillis the part of the first window that has passed at the beginning
   * @param tickMillis that pass at once
   * @param requests to all nodes together; more than the limit, or no order of events could exceed
   *     it
   * @param regionalOnly whether a coordinator that does not answer receives only probes
   */
  record Scope(
      int nodes,
      boolean together,
      long limit,
      long batch,
      long windowMillis,
      long beginMillis,
      long tickMillis,
      int ticks,
      int requests,
      boolean regionalOnly,
      Faults most) {

    Scope {
      if (requests <= limit) {
        throw new IllegalArgumentException(requests + " requests cannot exceed the limit");
      }
    }
  }

  /** A fault of the coordinator or the escrow that breaks the limit, or hides an event. */
  enum Defect {
    NONE,
    /** A process is told of twice as many units as the coordinator has counted. */
    GRANTED_TWICE,
    /** A process is told that the window lasts one window longer. */
    OUTLIVES_WINDOW,
    /** The coordinator does not subtract returned units. */
    RETURN_LOST,
    /** A process is told of twice as many units as the escrow gave away. */
    TAKEN_TWICE,
    /** The escrow ignores the id of a refill. */
    REFILLED_AGAIN,
    /** The escrow keeps the units that it has released. */
    RELEASED_AND_KEPT
  }

  /**
   * The number of faults.
   *
   * @param lost calls and answers that are lost
   * @param twice calls that arrive twice
   * @param evictions times that a node returns all units
   */
  record Faults(int lost, int twice, int evictions) {
    static final Faults NONE = new Faults(0, 0, 0);

    Faults and(Faults more) {
      return new Faults(lost + more.lost, twice + more.twice, evictions + more.evictions);
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
  private final Defect defect;
  private final Set<String> reached;
  private final ManualTime farTime;
  private final ManualTime escrowTime;
  private final InMemoryCoordinator coordinator;
  private final HeldUnits escrow;
  private final List<InFlightCalls> journeys = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<FederationState> knowledge = new ArrayList<>();
  private final List<List<Node.Reply>> open = new ArrayList<>();
  private final List<List<Integer>> calledAt = new ArrayList<>();
  private final TreeMap<Long, Long> admitted = new TreeMap<>();
  private final TieredClaim claim;
  private int requests;
  private int ticks;
  private Faults faults = Faults.NONE;

  /**
   * Creates nodes in their first state.
   *
   * @param defect of the coordinator or the escrow
   * @param reached receives the names of the events that happened
   */
  FederatedNodes(Scope scope, Defect defect, Set<String> reached) {
    this.scope = scope;
    this.defect = defect;
    this.reached = reached;
    this.farTime = new ManualTime(START + scope.beginMillis());
    this.escrowTime = new ManualTime(farTime.wallMillis() + ESCROW_AHEAD_MILLIS);
    this.coordinator = new InMemoryCoordinator(farTime);
    this.escrow = new HeldUnits(escrowTime, defect, reached);
    FixedWindow window = new FixedWindow(scope.limit(), scope.windowMillis());
    Tier tier =
        new Tier.Global(
            new LeaseSize.Fixed(scope.batch()),
            0,
            0,
            new Terms("shop", List.of(window)),
            DataLoss.REFILL,
            scope.regionalOnly());
    this.claim = Node.claim(Role.ENFORCED, tier, Outage.DENY, "user", window, 1);
    for (int n = 0; n < scope.nodes(); n++) {
      add(n);
    }
  }

  private void add(int n) {
    InFlightCalls calls = new InFlightCalls();
    ManualTime time = new ManualTime(0);
    FederationState known = new FederationState(time, reached);
    Federation federation =
        new Federation(
            new DelayedCoordinator(coordinator, calls, known, defect),
            scope.together() ? new DelayedEscrow(escrow, calls, known) : null,
            new Clocks(time, (_, _) -> {}),
            new FederationSettings(
                scope.together() ? "eu" : "r" + n, "n" + n, REGIONAL_LEASES, scope.tickMillis()),
            known);
    journeys.add(calls);
    knowledge.add(known);
    nodes.add(new Node(new InMemoryStore(time, 10), federation, time, 10));
    open.add(new ArrayList<>());
    calledAt.add(new ArrayList<>());
  }

  @Override
  public List<Event> enabled() {
    List<Event> events = new ArrayList<>();
    for (int n = 0; n < scope.nodes(); n++) {
      if (requests < scope.requests()) {
        events.add(new Event("request", n, -1));
      }
      List<InFlightCall<?>> calls = journeys.get(n).calls();
      for (int i = 0; i < calls.size(); i++) {
        events.add(new Event("move", n, i));
        if (faults.lost() < scope.most().lost()) {
          events.add(new Event("lose", n, i));
        }
        if (faults.twice() < scope.most().twice() && calls.get(i).canArriveTwice()) {
          events.add(new Event("arrive twice", n, i));
        }
      }
      if (faults.evictions() < scope.most().evictions() && nodes.get(n).tiers.cells() > 0) {
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
    int n = event.node();
    switch (event.what()) {
      case "request" -> {
        requests++;
        open.get(n).add(nodes.get(n).ask(claim));
        calledAt.get(n).add(ticks);
      }
      case "move" -> journeys.get(n).move(event.index());
      case "lose" -> {
        faults = faults.and(new Faults(1, 0, 0));
        InFlightCall<?> call = journeys.get(n).calls().get(event.index());
        boolean arrived = call.hasArrived() || call.isTwice();
        reached.add(call.kind() + (arrived ? ": answer lost" : ": lost"));
        journeys.get(n).lose(event.index());
      }
      case "arrive twice" -> {
        faults = faults.and(new Faults(0, 1, 0));
        reached.add(journeys.get(n).calls().get(event.index()).kind() + ": twice");
        journeys.get(n).arriveTwice(event.index());
      }
      case EVICT -> {
        faults = faults.and(new Faults(0, 0, 1));
        nodes.get(n).tiers.leases.close();
      }
      default -> tick();
    }
    count();
  }

  private void tick() {
    ticks++;
    farTime.advance(scope.tickMillis());
    escrowTime.advance(scope.tickMillis());
    for (Node node : nodes) {
      node.time.advance(scope.tickMillis());
      node.timer.run();
    }
  }

  /** Nodes of one region are interchangeable, so the order of their states does not matter. */
  @Override
  public Object snapshot() {
    List<String> each = new ArrayList<>();
    for (int n = 0; n < scope.nodes(); n++) {
      each.add( // concatenated, because formatting takes a tenth of an exploration
          "\n    node: open "
              + calledAt.get(n)
              + ", "
              + nodes.get(n).tiers.leases
              + ", "
              + (scope.most().lost() == 0 ? "" : knowledge.get(n))
              + ", timers "
              + nodes.get(n).timer.due(WAIT_TIMEOUT_NANOS)
              + ", calls "
              + journeys.get(n).calls());
    }
    Collections.sort(each);
    String shared =
        requests
            + " asked, "
            + ticks
            + " ticks, "
            + faults
            + ", "
            + admitted
            + ", coordinator "
            + withoutIds(coordinator)
            + ", escrow "
            + withoutIds(escrow);
    return shared + each;
  }

  private static String withoutIds(Object counts) {
    String text = IDS.matcher(counts.toString()).replaceAll("");
    return RECORDS.matcher(text).replaceAll(records -> sorted(records.group()));
  }

  /** Sorts records of answered calls, because each replay has other senders. */
  private static String sorted(String records) {
    return Stream.of(records.split(", "))
        .map(record -> record.substring(record.indexOf('=')))
        .sorted()
        .collect(Collectors.joining());
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
          calledAt.get(n).remove(/* index */ i);
          long window = Math.floorDiv(farTime.wallMillis(), scope.windowMillis());
          admitted.merge(window, reply.admitted() ? 1L : 0L, Long::sum);
        }
      }
      if (nodes.get(n).counted.forfeited > 0) {
        reached.add("node: units forfeited");
      }
      if (nodes.get(n).counted.late > 0) {
        reached.add("node: units too late");
      }
    }
    if (admitted.containsValue(scope.limit())) {
      reached.add("window: the whole limit admitted");
    }
  }
}
