package io.throttlekit.spec;

import io.throttlekit.explore.Model;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Java counterpart of DistributedLeasing and GaleWindowCoupledLeasing.
 *
 * @param nodes how many
 * @param limit units per window
 * @param batch units per lease
 * @param coupled whether unspent units of nodes expire when the window rolls
 * @param returns whether nodes may return unspent units
 * @param bound the bound that must never be exceeded
 */
record Leasing(int nodes, int limit, int batch, boolean coupled, boolean returns, int bound)
    implements Model<Leasing.State> {

  /**
   * A state.
   *
   * @param left units that the store has not granted of this window
   * @param credits leased and unspent units of each node
   * @param admitted in this window, by all nodes
   */
  record State(int left, List<Integer> credits, int admitted) {}

  @Override
  public List<State> initial() {
    return List.of(new State(limit, Collections.nCopies(nodes, 0), 0));
  }

  @Override
  public List<Step<State>> steps(State state) {
    List<Step<State>> steps = new ArrayList<>();
    for (int node = 0; node < nodes; node++) {
      int credits = state.credits().get(node);
      int admitted = state.admitted();
      if (credits > 0) {
        steps.add(step("serve", state, state.left(), node, credits - 1, admitted + 1));
      }
      if (credits == 0 && state.left() >= batch) {
        steps.add(step("lease", state, state.left() - batch, node, batch - 1, admitted + 1));
      }
      if (returns && credits > 0) {
        steps.add(step("return", state, state.left() + credits, node, 0, admitted));
      }
      // Once per node, because the published counts of steps are so.
      List<Integer> kept = coupled ? Collections.nCopies(nodes, 0) : state.credits();
      steps.add(new Step<>("roll", new State(limit, kept, 0)));
    }
    return steps;
  }

  private static Step<State> step(
      String event, State from, int left, int node, int credits, int admitted) {
    List<Integer> all = new ArrayList<>(from.credits());
    all.set(node, credits);
    return new Step<>(event + " " + node, new State(left, List.copyOf(all), admitted));
  }

  @Override
  public @Nullable String broken(State state) {
    return state.admitted() > bound ? "bound" : null;
  }
}
