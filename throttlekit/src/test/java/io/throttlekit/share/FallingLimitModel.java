package io.throttlekit.share;

import io.throttlekit.explore.Model;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.Heartbeat.Publication;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The real {@link FleetState} with a limit that falls, and nodes that report any number of requests
 * that they may have, and acknowledge their shares or not.
 *
 * @param nodes how many; the limit is never below it
 * @param limit at first
 * @param falls of the limit
 * @param flaw of the fleet that an exploration must find
 * @param reached the names of states that some orders included
 */
record FallingLimitModel(
    int nodes,
    int limit,
    int falls,
    Allocation allocation,
    boolean acknowledged,
    Flaw flaw,
    Set<String> reached)
    implements Model<FallingLimitModel.State> {

  /**
   * A state.
   *
   * @param reported bit set of the nodes with a heartbeat since the limit fell last
   * @param falls of the limit that may still happen
   * @param broken invariant that the step to this state broke
   */
  record State(FleetState fleet, int reported, int falls, @Nullable String broken) {}

  /** What distinguishes a node. */
  private record Identity(int share, int mayApply, int inFlight, int peak, boolean left) {}

  /** A fault that breaks a promise. */
  enum Flaw {
    NONE,
    /** A heartbeat has no effect once the limit has fallen. */
    REPORT_LOST,
    /** The fleet divides one permit more than the limit. */
    LIMIT_TOO_HIGH
  }

  private Coordination terms() {
    return new Coordination(Aggregate.POOLED, allocation, acknowledged);
  }

  @Override
  public List<State> initial() {
    Heartbeat first = heartbeat(0, 1, 0, 0, 0, null);
    FleetState fleet = FleetState.EMPTY.heartbeat(terms(), first, 0).next();
    return List.of(new State(fleet, 1, falls, null));
  }

  @Override
  public List<Step<State>> steps(State state) {
    List<Step<State>> steps = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      NodeState node = state.fleet.nodes().get(key(i));
      if (node == null) {
        steps.add(step("join " + i, state, state.falls, i, heartbeat(i, 1, 0, 0, 0, null)));
        continue;
      }
      if (node.left()) {
        continue;
      }
      for (int inFlight = 0; inFlight <= node.reserved(); inFlight++) {
        for (long generation : new long[] {0, node.generation()}) {
          report(state, i, node, inFlight, generation, steps);
        }
        Departure departure = new Departure("k", "n" + i, 1, inFlight);
        FleetState next = state.fleet.leave(departure, 0);
        steps.add(new Step<>("leave " + i, after(state, next, state.reported, state.falls)));
      }
      boolean steers = key(i).equals(state.fleet.steering());
      int lowest = steers && state.falls > 0 ? nodes : state.fleet.limit();
      for (int next = lowest; next < state.fleet.limit(); next++) {
        Publication lower = new Publication(state.fleet.epoch(), next);
        for (int peak : new int[] {0, node.share()}) {
          Heartbeat beat = heartbeat(i, node.sequence() + 1, 0, peak, node.generation(), lower);
          steps.add(step("limit " + next, state, state.falls - 1, i, beat));
        }
      }
    }
    return steps;
  }

  private void report(
      State state, int i, NodeState node, int inFlight, long generation, List<Step<State>> steps) {
    String event = "n%s has %s, acknowledges %s".formatted(i, inFlight, generation);
    for (int peak : new int[] {inFlight, Math.max(inFlight, node.share())}) {
      Heartbeat beat = heartbeat(i, node.sequence() + 1, inFlight, peak, generation, null);
      steps.add(
          flaw == Flaw.REPORT_LOST && state.falls < falls
              ? new Step<>(event, after(state, state.fleet, state.reported | 1 << i, state.falls))
              : step(event, state, state.falls, i, beat));
    }
  }

  private Step<State> step(String event, State from, int falls, int i, Heartbeat beat) {
    FleetState next = from.fleet.heartbeat(terms(), beat, 0).next();
    int before = next.limit() < from.fleet.limit() ? 0 : from.reported;
    return new Step<>(event, after(from, next, before | 1 << i, falls));
  }

  private State after(State from, FleetState next, int reported, int falls) {
    if (shares(next) > next.limit()) {
      reached.add("shares above the limit");
    }
    if (next.reserved() > Math.max(next.limit(), shares(next))) {
      reached.add("more reserved than the limit and the shares");
    }
    return new State(next, reported, falls, broken(from.fleet, next, reported));
  }

  private @Nullable String broken(FleetState from, FleetState next, int reported) {
    int most = next.limit() - (flaw == Flaw.LIMIT_TOO_HIGH ? 1 : 0);
    if (acknowledged && next.reserved() > Math.max(most, from.reserved())) {
      return "Σ reserved rises";
    }
    if (shares(next) > Math.max(most, shares(from))) {
      return "Σ share rises";
    }
    boolean allReported = true;
    for (int i = 0; i < nodes; i++) {
      NodeState before = from.nodes().get(key(i));
      NodeState after = next.nodes().get(key(i));
      if (after == null || after.left()) {
        continue;
      }
      allReported &= (reported & 1 << i) != 0;
      if (before != null && before.share() > 0 && after.share() == 0) {
        return "a node has no share any more";
      }
    }
    return allReported && shares(next) > next.limit() ? "Σ share stays above the limit" : null;
  }

  private static long shares(FleetState fleet) {
    return fleet.nodes().values().stream().mapToLong(NodeState::share).sum();
  }

  private static NodeKey key(int node) {
    return new NodeKey("n" + node, 1);
  }

  private Heartbeat heartbeat(
      int node,
      long sequence,
      int inFlight,
      int peak,
      long generation,
      @Nullable Publication lower) {
    return new Heartbeat(
        "k",
        "n" + node,
        1,
        sequence,
        limit,
        false,
        inFlight,
        peak,
        0,
        generation,
        1,
        0,
        lower,
        null);
  }

  @Override
  public @Nullable String broken(State state) {
    return state.broken;
  }

  @Override
  public Object identity(State state) {
    List<Object> identity = new ArrayList<>();
    identity.add(List.of(state.fleet.limit(), state.reported, state.falls));
    identity.add(String.valueOf(state.broken));
    state
        .fleet
        .nodes()
        .forEach((key, node) -> {
          identity.add(key);
          identity.add(
              new Identity(
                  node.share(), node.mayApply(), node.inFlight(), node.peak(), node.left()));
        });
    return identity;
  }
}
