package io.throttlekit.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of an exploration. The three numbers are counted as TLC counts them.
 *
 * @param distinct states with different identities
 * @param generated initial states and steps, also to states seen before
 * @param depth states on the longest of the shortest paths, so 1 when nothing can happen
 * @param violation a shortest way to a broken invariant, where the exploration ended; null when all
 *     states were seen and all invariants hold
 */
public record Exploration(long distinct, long generated, int depth, @Nullable Violation violation) {

  /**
   * A broken invariant.
   *
   * @param invariant its name
   * @param trace the initial state, then each event with the state after it
   */
  public record Violation(String invariant, List<String> trace) {

    /** Copies the list. */
    public Violation {
      trace = List.copyOf(trace);
    }

    @Override
    public String toString() {
      return invariant + " is broken:\n  " + String.join("\n  ", trace);
    }
  }

  /** Returns the name of the broken invariant; null if all hold. */
  public @Nullable String broken() {
    return violation == null ? null : violation.invariant();
  }
}
