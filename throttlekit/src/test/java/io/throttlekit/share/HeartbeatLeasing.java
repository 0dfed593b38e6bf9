package io.throttlekit.share;

import io.throttlekit.explore.Model;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Java counterpart of GaleHeartbeatLeasing: nodes divide one concurrency limit, and every grant
 * is applied at once.
 *
 * @param nodes how many
 * @param limit of the fleet
 * @param division how a share is computed
 * @param maxShares the bound of Σ share, which must never be exceeded
 * @param maxInFlight the bound of Σ in flight, which must never be exceeded
 */
record HeartbeatLeasing(int nodes, int limit, Division division, int maxShares, int maxInFlight)
    implements Model<HeartbeatLeasing.State> {

  /**
   * A state.
   *
   * @param active bit set of the nodes in the fleet; the others have no share and nothing in flight
   */
  record State(int active, List<Integer> shares, List<Integer> inFlight) {
    boolean isActive(int node) {
      return (active & 1 << node) != 0;
    }

    int activeNodes() {
      return Integer.bitCount(active);
    }

    /** Returns the active nodes with a smaller number. */
    int rank(int node) {
      return Integer.bitCount(active & (1 << node) - 1);
    }

    boolean isSatisfied(int node) {
      return inFlight.get(node) < shares.get(node);
    }
  }

  /** How the share of a node is computed. */
  interface Division {
    int share(State state, int limit, int node);
  }

  /** The published rules: the smaller of a target and what is not reserved for others. */
  record PublishedDivision(Target target, Reserve reserve) implements Division {
    @Override
    public int share(State state, int limit, int node) {
      int free = limit;
      for (int other = 0; other < state.shares().size(); other++) {
        if (state.isActive(other) && other != node) {
          free -= reserve.of(state.shares().get(other), state.inFlight().get(other));
        }
      }
      return Math.max(0, Math.min(target.of(state, limit, node), free));
    }
  }

  /** What is reserved for a node. */
  enum Reserve {
    OCCUPANCY,
    SHARE_ONLY,
    NOTHING;

    int of(int share, int inFlight) {
      return switch (this) {
        case OCCUPANCY -> Math.max(share, inFlight);
        case SHARE_ONLY -> share;
        case NOTHING -> 0;
      };
    }
  }

  /** What a node is to get. */
  enum Target {
    CEILING,
    EQUAL,
    DEMAND;

    int of(State state, int limit, int node) {
      return switch (this) {
        case CEILING -> Math.ceilDiv(limit, state.activeNodes());
        case EQUAL -> part(limit, state.activeNodes(), state.rank(node));
        case DEMAND -> demanded(state, limit, node);
      };
    }

    private static int demanded(State state, int limit, int node) {
      if (state.isSatisfied(node)) {
        return state.inFlight().get(node) + 1;
      }
      int spare = limit;
      int hungry = 0;
      int rank = 0;
      for (int other = 0; other < state.shares().size(); other++) {
        if (state.isActive(other) && state.isSatisfied(other)) {
          spare -= state.inFlight().get(other) + 1;
        } else if (state.isActive(other)) {
          hungry++;
          rank += other < node ? 1 : 0;
        }
      }
      return Math.max(1, part(Math.max(0, spare), hungry, rank));
    }

    private static int part(int permits, int nodes, int rank) {
      return permits / nodes + (rank < permits % nodes ? 1 : 0);
    }
  }

  @Override
  public List<State> initial() {
    List<Integer> zeros = Collections.nCopies(nodes, 0);
    List<State> states = new ArrayList<>();
    for (int active = 1; active < 1 << nodes; active++) {
      states.add(new State(active, zeros, zeros));
    }
    return states;
  }

  @Override
  public List<Step<State>> steps(State state) {
    List<Step<State>> steps = new ArrayList<>();
    for (int node = 0; node < nodes; node++) {
      int share = state.shares().get(node);
      int inFlight = state.inFlight().get(node);
      if (!state.isActive(node)) {
        steps.add(step("join", state, state.active() | 1 << node, node, 0, 0));
        continue;
      }
      int granted = division.share(state, limit, node);
      steps.add(step("heartbeat", state, state.active(), node, granted, inFlight));
      if (state.activeNodes() > 1) {
        steps.add(step("leave", state, state.active() & ~(1 << node), node, 0, 0));
      }
      if (inFlight < share) {
        steps.add(step("acquire", state, state.active(), node, share, inFlight + 1));
      }
      if (inFlight > 0) {
        steps.add(step("release", state, state.active(), node, share, inFlight - 1));
      }
    }
    return steps;
  }

  private static Step<State> step(
      String event, State from, int active, int node, int share, int inFlight) {
    List<Integer> shares = new ArrayList<>(from.shares());
    shares.set(node, share);
    List<Integer> all = new ArrayList<>(from.inFlight());
    all.set(node, inFlight);
    return new Step<>(event + " " + node, new State(active, List.copyOf(shares), List.copyOf(all)));
  }

  @Override
  public @Nullable String broken(State state) {
    if (sum(state.shares()) > maxShares) {
      return "GlobalCap";
    }
    return sum(state.inFlight()) > maxInFlight ? "InflightCap" : null;
  }

  private static int sum(List<Integer> numbers) {
    return numbers.stream().mapToInt(Integer::intValue).sum();
  }
}
