package io.throttlekit.share;

import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A fleet in simulated time: nodes with random requests, a network that delays, loses and repeats
 * messages, nodes that restart, leave and return, and one real {@link FleetState}. The nodes follow
 * the rules of {@link FleetModel}.
 */
final class SimulatedFleet {
  /** Something that happened. */
  enum Event {
    REFUSED,
    SATURATED,
    RAISED,
    UNACKNOWLEDGED,
    OVERTAKEN,
    REPEATED,
    LOST,
    OLDER_SHARE,
    FENCED,
    EVICTED,
    RESTARTED,
    DEPARTED,
    LATE_AFTER_DEPARTURE,
    ONE_ID_TWICE,
    ABOVE_LIMIT
  }

  static final long INTERVAL_MILLIS = 100;
  static final long LEASE_MILLIS = 400;
  private static final long MAX_DELAY_MILLIS = 700;

  private record Task(long at, long order, Runnable action) {}

  /** A node, through all its incarnations. */
  static final class SimulatedNode {
    final String id;
    long incarnation;
    long sequence;
    long generation;
    int share;
    int inFlight;
    int peak;
    long refused;
    long epoch;
    long leaseUntil;
    long joinedAt;
    boolean left;
    int demand;

    SimulatedNode(String id) {
      this.id = id;
    }

    NodeKey key() {
      return new NodeKey(id, incarnation);
    }
  }

  private final SplittableRandom random;
  private final Coordination terms;
  private final int firstLimit;
  private final boolean limitMoves;
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
  private final Map<Event, Integer> reached = new EnumMap<>(Event.class);
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private FleetState fleet = FleetState.EMPTY;
  private long now = 1;
  private long order;
  private long lastIncarnation;
  private boolean faults = true;
  private long published; // the epoch of the last publication

  /**
   * Creates a fleet that has not begun.
   *
   * @param limitMoves whether the steering node publishes other limits
   */
  SimulatedFleet(long seed, Coordination terms, int count, int firstLimit, boolean limitMoves) {
    this.random = new SplittableRandom(seed);
    this.terms = terms;
    this.firstLimit = firstLimit;
    this.limitMoves = limitMoves;
    for (int i = 0; i < count; i++) {
      SimulatedNode node = new SimulatedNode("n" + i);
      nodes.add(node);
      begin(node);
      node.demand = random.nextInt(3);
      in(random.nextLong(10 * INTERVAL_MILLIS), () -> beats(node));
      in(random.nextLong(INTERVAL_MILLIS), () -> requests(node));
    }
  }

  /** Runs the next event. */
  void step() {
    Task task = tasks.remove();
    now = task.at;
    task.action.run();
  }

  /** Ends all faults and departures, gives each node the demand, and lets time pass. */
  void calm(int demand, long millis) {
    faults = false;
    nodes.forEach(node -> node.demand = demand);
    long until = now + millis;
    while (tasks.element().at <= until) {
      step();
    }
  }

  FleetState fleet() {
    return fleet;
  }

  List<SimulatedNode> nodes() {
    return nodes;
  }

  long inFlight() {
    return nodes.stream().mapToLong(node -> node.inFlight).sum();
  }

  /** Returns what is reserved in leases that have not ended. */
  long reserved() {
    return live().mapToLong(NodeState::reserved).sum();
  }

  /** Returns the shares in leases that have not ended. */
  long shares() {
    return live().mapToLong(NodeState::share).sum();
  }

  private Stream<NodeState> live() {
    return fleet.nodes().values().stream().filter(node -> node.untilMillis() >= now);
  }

  /** Returns a node with more requests or a larger share than is reserved for it; null if none. */
  @Nullable String uncovered() {
    for (SimulatedNode node : nodes) {
      NodeState known = fleet.nodes().get(node.key());
      int reserved = known == null || known.untilMillis() < now ? 0 : known.reserved();
      if (Math.max(node.share, node.inFlight) > reserved) {
        return node.id + " has " + node.inFlight + " of " + node.share + ", reserved " + reserved;
      }
    }
    return null;
  }

  Map<Event, Integer> reached() {
    return reached;
  }

  private void count(Event event) {
    reached.merge(event, 1, Integer::sum);
  }

  private void in(long millis, Runnable action) {
    tasks.add(new Task(now + millis, order++, action));
  }

  private boolean oneIn(int many) {
    return faults && random.nextInt(many) == 0;
  }

  private void begin(SimulatedNode node) {
    node.incarnation = ++lastIncarnation;
    node.sequence = 0;
    node.generation = 0;
    node.share = 0;
    node.epoch = 0;
    node.leaseUntil = 0;
    node.left = false;
  }

  private void abort(SimulatedNode node) {
    node.inFlight = 0;
    begin(node);
  }

  private void beats(SimulatedNode node) {
    in(INTERVAL_MILLIS - 10 + random.nextLong(20), () -> beats(node));
    if (oneIn(150)) {
      count(Event.RESTARTED);
      abort(node);
    }
    if (node.left && node.inFlight == 0) {
      begin(node);
    }
    if (node.left || isJoining(node)) {
      return;
    }
    node.joinedAt = node.sequence == 0 ? now : node.joinedAt;
    node.demand = oneIn(20) ? random.nextInt(4) : node.demand;
    send(node, heartbeat(node));
    if (oneIn(100)) {
      long incarnation = node.incarnation;
      in(random.nextLong(10), () -> leave(node, incarnation));
    }
  }

  private void leave(SimulatedNode node, long incarnation) {
    if (node.incarnation != incarnation || node.generation == 0) {
      return;
    }
    count(Event.DEPARTED);
    Departure departure = new Departure("k", node.id, node.incarnation, node.inFlight);
    in(random.nextLong(20), () -> fleet = fleet.leave(departure, now));
    node.left = true;
    node.share = 0;
  }

  /** A second heartbeat must not overtake the first one. */
  private boolean isJoining(SimulatedNode node) {
    return node.sequence > 0 && node.generation == 0 && now - node.joinedAt < MAX_DELAY_MILLIS;
  }

  private Heartbeat heartbeat(SimulatedNode node) {
    Publication publication = null;
    if (limitMoves && node.epoch > 0 && (node.epoch > published || oneIn(2))) {
      published = node.epoch;
      publication = new Publication(node.epoch, 1 + random.nextInt(2 * firstLimit));
    }
    Heartbeat heartbeat =
        new Heartbeat(
            "k",
            node.id,
            node.incarnation,
            ++node.sequence,
            firstLimit,
            false,
            node.inFlight,
            node.peak,
            node.refused,
            node.generation,
            LEASE_MILLIS,
            0,
            publication,
            null);
    node.peak = node.inFlight;
    node.refused = 0;
    return heartbeat;
  }

  private void send(SimulatedNode node, Heartbeat heartbeat) {
    long sentAt = now;
    if (oneIn(12)) {
      count(Event.LOST);
      return;
    }
    in(delay(), () -> arrive(node, heartbeat, sentAt));
    if (oneIn(15)) {
      count(Event.REPEATED);
      in(delay(), () -> arrive(node, heartbeat, sentAt));
    }
  }

  private long delay() {
    return oneIn(15) ? random.nextLong(MAX_DELAY_MILLIS / 2) : random.nextLong(40);
  }

  private void arrive(SimulatedNode node, Heartbeat heartbeat, long sentAt) {
    NodeKey key = new NodeKey(heartbeat.node(), heartbeat.incarnation());
    NodeState known = fleet.nodes().get(key);
    FleetState.Outcome outcome = fleet.heartbeat(terms, heartbeat, now);
    fleet = outcome.next();
    ShareGrant grant = outcome.grant();
    if (known != null && known.untilMillis() >= now) {
      if (known.left()) {
        count(Event.LATE_AFTER_DEPARTURE);
      } else if (heartbeat.sequence() <= known.sequence()) {
        count(Event.OVERTAKEN);
      } else if (grant.share() > known.share()) {
        count(Event.RAISED);
      }
    }
    if (grant.sameId()) {
      count(Event.ONE_ID_TWICE);
    }
    if (reserved() > fleet.limit()) {
      count(Event.ABOVE_LIMIT);
    }
    NodeState next = fleet.nodes().get(key);
    if (next != null && next.reserved() > Math.max(next.share(), next.inFlight())) {
      count(Event.UNACKNOWLEDGED);
    }
    if (oneIn(12)) {
      count(Event.LOST);
    } else {
      in(delay(), () -> receive(node, heartbeat.incarnation(), grant, sentAt));
    }
  }

  private void receive(SimulatedNode node, long incarnation, ShareGrant grant, long sentAt) {
    if (incarnation != node.incarnation || node.left) {
      return;
    }
    if (grant.status() != Status.MEMBER) {
      count(Event.EVICTED);
      begin(node);
      return;
    }
    long until = sentAt + LEASE_MILLIS;
    if (now >= until) {
      return;
    }
    if (until > node.leaseUntil) {
      node.leaseUntil = until;
      in(until - now, () -> fence(node, incarnation));
    }
    node.epoch = grant.epoch();
    if (grant.generation() > node.generation) {
      node.generation = grant.generation();
      node.share = grant.share();
    } else if (grant.generation() < node.generation) {
      count(Event.OLDER_SHARE);
    }
  }

  private void fence(SimulatedNode node, long incarnation) {
    if (node.incarnation == incarnation && now >= node.leaseUntil) {
      count(Event.FENCED);
      abort(node);
    }
  }

  private void requests(SimulatedNode node) {
    int mean = Math.max(1, 12 * nodes.size() / firstLimit);
    in(1 + random.nextLong(2L * mean * (4 - node.demand)), () -> requests(node));
    if (node.demand == 0) {
      return;
    }
    if (node.inFlight >= node.share) {
      node.refused++;
      count(Event.REFUSED);
      return;
    }
    node.inFlight++;
    node.peak = Math.max(node.peak, node.inFlight);
    if (inFlight() == fleet.limit()) {
      count(Event.SATURATED);
    }
    long incarnation = node.incarnation;
    in(
        5 + random.nextLong(60),
        () -> {
          if (node.incarnation == incarnation) {
            node.inFlight--;
          }
        });
  }
}
