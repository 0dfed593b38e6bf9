package io.throttlekit.share;

import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.ShareGrant.Remnant;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One concurrency limit and the nodes that divide it: what a coordinator stores for a key, and the
 * rules by which it changes. Immutable.
 *
 * <p>A grant is
 *
 * <pre>share = min(target, max(limit − Σ reserved for others, share before))</pre>
 *
 * <p>so with a constant limit Σ reserved ≤ limit after every step, unless nodes bring requests
 * along when they join. With a falling limit no share rises, and each falls to its target with the
 * next heartbeat of its node. A node keeps its share only while it sends heartbeats: it stops by
 * itself before its lease ends.
 *
 * <p>A node whose lease ends leaves a remnant: what was reserved for it stays reserved until the
 * last request that it may have admitted has ended by its time to live, or was released elsewhere.
 *
 * @param nodes by id, then incarnation
 * @param limit of the fleet; 0 before the first heartbeat
 * @param epoch of the last steering lease; 0 before the first one
 * @param steering who holds or held the last steering lease; null before the first one
 * @param steeringUntilMillis when it ends, unless it is renewed
 * @param frequent whether its last heartbeat called for frequent ones of all nodes
 */
public record FleetState(
    SortedMap<NodeKey, NodeState> nodes,
    int limit,
    long epoch,
    @Nullable NodeKey steering,
    long steeringUntilMillis,
    boolean frequent) {

  /** The state before the first heartbeat. */
  public static final FleetState EMPTY = new FleetState(new TreeMap<>(), 0, 0, null, 0, false);

  /** The most of a number that counts up: a store may hold it in a double. It continues at 1. */
  static final long MAX_NUMBER = (1L << 53) - 1;

  /** The most nodes of a limit: a heartbeat visits each of them. */
  public static final int MAX_NODES = 1_000;

  /**
   * How long a node steers without a heartbeat. With heartbeats every second, another one steers
   * within 3 s after its last one.
   */
  public static final long STEERING_MILLIS = 1_750;

  /**
   * The most time until a steering lease ends: twice its length, because the clock may step back by
   * as much. One that ends later was written by others, and has ended.
   */
  private static final long MAX_STEERING_MILLIS = 2 * STEERING_MILLIS;

  /** The most time until a node, or what it leaves, ends; others may write to a store. */
  private static final long MAX_UNTIL_MILLIS =
      Heartbeat.MAX_LEASE_MILLIS + Heartbeat.MAX_PERMIT_MILLIS;

  /** The most digests of a node that wait for the steering node; older ones are dropped. */
  static final int MAX_DIGESTS = 4;

  /** A node in one incarnation. */
  public record NodeKey(String node, long incarnation) implements Comparable<NodeKey> {
    private static final Comparator<NodeKey> ORDER =
        Comparator.comparing(NodeKey::node).thenComparingLong(NodeKey::incarnation);

    @Override
    public int compareTo(NodeKey other) {
      return ORDER.compare(this, other);
    }
  }

  /** The state after a heartbeat, and its answer. */
  public record Outcome(FleetState next, ShareGrant grant) {}

  /** Copies the nodes, and clamps the numbers: others may write to a store. */
  public FleetState {
    limit = Math.clamp(limit, 0, Heartbeat.MAX_REQUESTS);
    epoch = Math.clamp(epoch, 0L, MAX_NUMBER);
    nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
  }

  /**
   * Records a heartbeat.
   *
   * @param nowMillis by the coordinator's clock
   */
  public Outcome heartbeat(Coordination terms, Heartbeat beat, long nowMillis) {
    SortedMap<NodeKey, NodeState> live = live(nowMillis);
    NodeKey self = new NodeKey(beat.node(), beat.incarnation());
    NodeState known = live.get(self);
    if (known == null ? beat.sequence() != 1 : known.left()) {
      return rejected(live, Status.EVICTED);
    }
    if (known == null && live.size() >= MAX_NODES) {
      return rejected(live, Status.FULL);
    }
    if (known != null && beat.sequence() <= known.sequence()) {
      FleetState same = with(live, limit);
      return new Outcome(same, same.grant(self, List.of()));
    }
    live.put(self, reported(known, beat, nowMillis, terms.acknowledged()));
    FleetState reported = with(live, limit).steered(self, beat, nowMillis);
    FleetState aggregated = reported.with(live, reported.aggregate(terms.aggregate(), beat));
    int share = aggregated.share(terms.allocation(), self, nowMillis);
    live.put(self, aggregated.node(self).granted(share, terms.acknowledged()));
    if (!self.equals(aggregated.steering)) {
      FleetState next = aggregated.with(live, aggregated.limit);
      return new Outcome(next, next.grant(self, List.of()));
    }
    List<SampleDigest> digests = live.values().stream().flatMap(n -> n.digests().stream()).toList();
    live.replaceAll((_, node) -> node.withoutDigests());
    FleetState next = aggregated.with(live, aggregated.limit);
    return new Outcome(next, next.grant(self, digests));
  }

  /**
   * Removes a node: of what is reserved for it, its requests in flight stay until they have ended
   * by their time to live, and its lease has ended. Of one that is no member any more, it lowers
   * what is reserved.
   */
  public FleetState leave(Departure departure, long nowMillis) {
    SortedMap<NodeKey, NodeState> live = live(nowMillis);
    live.computeIfPresent(
        new NodeKey(departure.node(), departure.incarnation()),
        (_, node) ->
            node.left()
                ? node.lowered(node.inFlight() - departure.inFlight())
                : node.departed(departure.inFlight(), nowMillis + node.permitMillis()));
    return with(live, limit);
  }

  /** Lowers what is reserved for a process that is no member any more. */
  public FleetState released(ReleasedPermits released, long nowMillis) {
    SortedMap<NodeKey, NodeState> live = live(nowMillis);
    int rest = released.permits();
    for (NodeKey key : List.copyOf(live.keySet())) {
      NodeState node = live.get(key);
      if (node != null
          && node.left()
          && Incarnation.process(key.incarnation) == released.process()) {
        int permits = Math.min(rest, node.inFlight());
        rest -= permits;
        live.computeIfPresent(key, (_, each) -> each.lowered(permits));
      }
    }
    return with(live, limit);
  }

  /** Returns the state at a time: without what has ended by then. */
  public FleetState at(long nowMillis) {
    return with(live(nowMillis), limit);
  }

  /** Returns the permits that are reserved for all nodes together. */
  public long reserved() {
    return nodes.values().stream().mapToLong(NodeState::reserved).sum();
  }

  /** Returns whether no lease is running. */
  public boolean isEmpty(long nowMillis) {
    return live(nowMillis).isEmpty();
  }

  private SortedMap<NodeKey, NodeState> live(long nowMillis) {
    SortedMap<NodeKey, NodeState> live = new TreeMap<>(nodes);
    live.replaceAll((_, node) ->
        node.untilMillis() < nowMillis
            ? node.remnant()
            : node.endingBy(nowMillis + MAX_UNTIL_MILLIS));
    live.values().removeIf(node -> node.untilMillis() < nowMillis);
    return live;
  }

  private FleetState with(SortedMap<NodeKey, NodeState> nodes, int limit) {
    return new FleetState(nodes, limit, epoch, steering, steeringUntilMillis, frequent);
  }

  private NodeState node(NodeKey key) {
    NodeState node = nodes.get(key);
    if (node == null) {
      throw new IllegalStateException(key + " is not a member");
    }
    return node;
  }

  private Outcome rejected(SortedMap<NodeKey, NodeState> live, Status status) {
    FleetState same = with(live, limit);
    ShareGrant grant =
        new ShareGrant(
            status,
            0,
            Math.max(1, limit),
            same.applied(),
            same.members().size(),
            0,
            same.steeringId(),
            0,
            false,
            false,
            same.remnants(),
            List.of());
    return new Outcome(same, grant);
  }

  private static NodeState reported(
      @Nullable NodeState known, Heartbeat beat, long nowMillis, boolean acknowledged) {
    int share = known == null ? 0 : known.share();
    long generation = known == null ? 0 : known.generation();
    int mayApply = known == null ? 0 : known.mayApply();
    // The number of a grant that was never made acknowledges nothing.
    if (!acknowledged || beat.acknowledged() == generation) {
      mayApply = share;
    }
    // No more can be in flight than was reserved before. But a new node may bring requests along,
    // and without acknowledgements a node may still have admitted by a larger share.
    int inFlight =
        known == null || !acknowledged
            ? beat.inFlight()
            : Math.min(beat.inFlight(), known.reserved());
    List<SampleDigest> digests = new ArrayList<>(known == null ? List.of() : known.digests());
    SampleDigest digest = beat.digest();
    if (digest != null) {
      digests.add(digest);
    }
    return new NodeState(
        beat.localLimit(),
        beat.sampled(),
        inFlight,
        Math.max(inFlight, beat.peak()),
        beat.refused() > 0,
        share,
        generation,
        mayApply,
        beat.sequence(),
        nowMillis + beat.leaseMillis(),
        beat.permitMillis(),
        false,
        List.copyOf(digests.subList(Math.max(0, digests.size() - MAX_DIGESTS), digests.size())));
  }

  /** Renews the steering lease of the node, or gives it an ended one; takes its published limit. */
  private FleetState steered(NodeKey self, Heartbeat beat, long nowMillis) {
    NodeState holder = steering == null ? null : nodes.get(steering);
    boolean ended =
        holder == null
            || holder.left()
            || steeringUntilMillis < nowMillis
            || steeringUntilMillis > nowMillis + MAX_STEERING_MILLIS;
    if (!self.equals(steering) && !ended) {
      return this;
    }
    Heartbeat.Publication published = beat.publication();
    boolean renewed = self.equals(steering);
    Heartbeat.Publication taken =
        renewed && published != null && published.epoch() == epoch ? published : null;
    return new FleetState(
        nodes,
        taken == null ? limit : taken.limit(),
        renewed ? Math.max(1, epoch) : epoch % MAX_NUMBER + 1,
        self,
        nowMillis + STEERING_MILLIS,
        taken != null && taken.frequent()); // so it ends with the lease of a node that died
  }

  private int aggregate(Aggregate aggregate, Heartbeat beat) {
    List<Integer> votes =
        aggregate == Aggregate.POOLED
            ? List.of()
            : nodes.values().stream()
                .filter(NodeState::sampled)
                .map(NodeState::localLimit)
                .sorted()
                .toList();
    if (votes.isEmpty()) {
      return limit > 0 ? limit : beat.localLimit();
    }
    return votes.get(aggregate == Aggregate.MIN ? 0 : (votes.size() - 1) / 2);
  }

  private int share(Allocation allocation, NodeKey self, long nowMillis) {
    NodeState node = node(self);
    long free = limit - (reserved() - node.reserved());
    List<NodeKey> members = members();
    // Without what no member can get, so that members divide the rest fairly. But a falling limit
    // lowers no share to 0, even if all of it is reserved.
    long gone = remnants().stream().mapToLong(Remnant::permits).sum();
    int rest = (int) Math.max(limit - gone, Math.min(limit, members.size()));
    ShareTargets targets = new ShareTargets(rest, members.stream().map(this::node).toList());
    long target =
        switch (allocation) {
          case EQUAL -> targets.equal(members.indexOf(self));
          case DEMAND -> targets.byDemand(members.indexOf(self), nowMillis);
        };
    return (int) Math.min(target, Math.max(0, Math.max(free, node.share())));
  }

  /** Returns what is reserved for nodes that are no members any more, in their order. */
  private List<Remnant> remnants() {
    List<Remnant> remnants = new ArrayList<>();
    nodes.forEach((key, node) -> {
      if (node.left() && node.inFlight() > 0) {
        remnants.add(new Remnant(key, node.inFlight()));
      }
    });
    return remnants;
  }

  /** Returns the nodes that have not left, in their order. */
  private List<NodeKey> members() {
    return nodes.keySet().stream().filter(key -> !node(key).left()).toList();
  }

  private ShareGrant grant(NodeKey self, List<SampleDigest> digests) {
    NodeState node = node(self);
    List<NodeKey> members = members();
    return new ShareGrant(
        Status.MEMBER,
        node.share(),
        limit,
        applied(),
        members.size(),
        node.generation(),
        steeringId(),
        self.equals(steering) ? epoch : 0,
        frequent,
        members.stream().filter(key -> key.node().equals(self.node())).count() > 1,
        remnants(),
        digests);
  }

  private long applied() {
    return nodes.values().stream().mapToLong(NodeState::mayApply).sum();
  }

  private String steeringId() {
    return steering == null ? "" : steering.node();
  }
}
