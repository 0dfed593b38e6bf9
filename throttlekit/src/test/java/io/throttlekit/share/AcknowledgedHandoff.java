package io.throttlekit.share;

import io.throttlekit.explore.Model;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Java counterpart of GaleHeartbeatHandoff for two nodes: grants arrive late and in any order,
 * and the coordinator knows only what nodes have reported.
 *
 * @param limit of the fleet
 * @param maxGrants grants of a node that are kept; no more are made until some are dropped
 * @param trimmed whether grants before the acknowledged one are dropped
 * @param reserve what is reserved for a node
 * @param torn whether a node reports its grant and its requests in flight at different times
 * @param maxShares the bound of Σ share, which must never be exceeded
 * @param maxInFlight the bound of Σ in flight, which must never be exceeded
 */
record AcknowledgedHandoff(
    int limit,
    int maxGrants,
    boolean trimmed,
    Reserve reserve,
    boolean torn,
    int maxShares,
    int maxInFlight)
    implements Model<AcknowledgedHandoff.State> {
  private static final int NODES = 2;
  private static final Node NEW = new Node(List.of(), 0, 0, 0, 0);

  /**
   * A node.
   *
   * @param grants that were made, in their order
   * @param applied number of the grant that the node applies, from 1; 0 if none
   * @param acknowledged number of the last reported grant, from 1; 0 if none
   * @param reported last reported requests in flight
   */
  record Node(List<Integer> grants, int applied, int inFlight, int acknowledged, int reported) {
    int share() {
      return grants.isEmpty() ? 0 : grants.getLast();
    }

    int number(int grant) {
      return grant == 0 ? 0 : grants.get(grant - 1);
    }

    int mayApply() {
      return grants.stream().skip(Math.max(0, acknowledged - 1)).reduce(0, Math::max);
    }

    boolean isReported() {
      return acknowledged == applied && reported == inFlight;
    }

    Node granted(int share) {
      List<Integer> all = new ArrayList<>(grants);
      all.add(share);
      return new Node(List.copyOf(all), applied, inFlight, acknowledged, reported);
    }

    Node applying(int grant) {
      return new Node(grants, grant, inFlight, acknowledged, reported);
    }

    Node with(int requests) {
      return new Node(grants, applied, requests, acknowledged, reported);
    }

    Node reporting(int grant, int requests) {
      return new Node(grants, applied, inFlight, grant, requests);
    }

    Node trimmed() {
      int dropped = Math.max(0, Math.min(applied, acknowledged) - 1);
      return new Node(
          grants.subList(dropped, grants.size()),
          Math.max(0, applied - dropped),
          inFlight,
          Math.max(0, acknowledged - dropped),
          reported);
    }
  }

  /**
   * A state.
   *
   * @param active bit set of the nodes in the fleet
   */
  record State(int active, List<Node> nodes) {
    boolean isActive(int node) {
      return (active & 1 << node) != 0;
    }
  }

  /** What is reserved for a node. */
  enum Reserve {
    /** All grants that the node may apply, and its requests in flight. */
    MAY_APPLY_AND_IN_FLIGHT,

    /** The last grant, the last acknowledged one, and the requests in flight. */
    COMMITTED_SNAPSHOT,

    /** All grants that the node may apply. */
    MAY_APPLY,

    /** The last grant and the requests in flight. */
    OCCUPANCY;

    int of(Node node) {
      return switch (this) {
        case MAY_APPLY_AND_IN_FLIGHT -> Math.max(node.mayApply(), node.reported());
        case COMMITTED_SNAPSHOT ->
            Math.max(Math.max(node.share(), node.number(node.acknowledged())), node.reported());
        case MAY_APPLY -> node.mayApply();
        case OCCUPANCY -> Math.max(node.share(), node.reported());
      };
    }
  }

  @Override
  public List<State> initial() {
    List<Node> nodes = Collections.nCopies(NODES, NEW);
    List<State> states = new ArrayList<>();
    for (int active = 1; active < 1 << NODES; active++) {
      states.add(new State(active, nodes));
    }
    return states;
  }

  @Override
  public List<Step<State>> steps(State state) {
    List<Step<State>> steps = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      Node node = state.nodes().get(i);
      if (!state.isActive(i)) {
        steps.add(step("join", state, state.active() | 1 << i, i, NEW));
        continue;
      }
      if (Integer.bitCount(state.active()) > 1) {
        steps.add(step("leave", state, state.active() & ~(1 << i), i, NEW));
      }
      if (node.grants().size() < maxGrants) {
        steps.add(step("grant", state, i, node.granted(share(state, i))));
      }
      for (int grant = node.applied() + 1; grant <= node.grants().size(); grant++) {
        steps.add(step("apply " + grant, state, i, node.applying(grant)));
      }
      report(state, i, node, steps);
      if (node.inFlight() < node.number(node.applied())) {
        steps.add(step("acquire", state, i, node.with(node.inFlight() + 1)));
      }
      if (node.inFlight() > 0) {
        steps.add(step("release", state, i, node.with(node.inFlight() - 1)));
      }
    }
    return steps;
  }

  private void report(State state, int i, Node node, List<Step<State>> steps) {
    if (!torn && !node.isReported()) {
      steps.add(step("report", state, i, node.reporting(node.applied(), node.inFlight())));
    }
    if (torn && node.acknowledged() != node.applied()) {
      steps.add(step("acknowledge", state, i, node.reporting(node.applied(), node.reported())));
    }
    if (torn && node.reported() != node.inFlight()) {
      steps.add(step("report", state, i, node.reporting(node.acknowledged(), node.inFlight())));
    }
  }

  private int share(State state, int self) {
    int free = limit;
    for (int i = 0; i < NODES; i++) {
      free -= i != self && state.isActive(i) ? reserve.of(state.nodes().get(i)) : 0;
    }
    int target = Math.ceilDiv(limit, Integer.bitCount(state.active()));
    return Math.max(0, Math.min(target, free));
  }

  private Step<State> step(String event, State from, int i, Node next) {
    return step(event, from, from.active(), i, next);
  }

  private Step<State> step(String event, State from, int active, int i, Node next) {
    List<Node> nodes = new ArrayList<>(from.nodes());
    nodes.set(i, trimmed ? next.trimmed() : next);
    return new Step<>(event + " " + i, new State(active, List.copyOf(nodes)));
  }

  @Override
  public @Nullable String broken(State state) {
    if (state.nodes().stream().mapToInt(Node::share).sum() > maxShares) {
      return "GlobalCap";
    }
    return state.nodes().stream().mapToInt(Node::inFlight).sum() > maxInFlight
        ? "InflightCap"
        : null;
  }
}
