package io.throttlekit.explore;

import io.throttlekit.explore.Exploration.Violation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Explores every state of a model, breadth first, up to the first broken invariant.
 *
 * @param <S> a state of the model
 */
public final class Explorer<S> {

  /** A state on the way, and how it was reached. */
  private record Seen<S>(S state, String event, @Nullable Seen<S> before, int depth) {}

  private final Model<S> model;
  private final long maxStates;
  private final Set<Object> identities = new HashSet<>();
  private final ArrayDeque<Seen<S>> frontier = new ArrayDeque<>();
  private long generated;
  private int depth;

  private Explorer(Model<S> model, long maxStates) {
    this.model = model;
    this.maxStates = maxStates;
  }

  /**
   * Explores {@code model}.
   *
   * @param maxStates distinct states that it may have at most, from 1
   * @throws IllegalStateException when it has more
   */
  public static <S> Exploration explore(Model<S> model, long maxStates) {
    return new Explorer<>(model, maxStates).run();
  }

  private Exploration run() {
    for (S state : model.initial()) {
      String broken = look(new Seen<>(state, "initially", null, 1));
      if (broken != null) {
        return ended(broken);
      }
    }
    while (!frontier.isEmpty()) {
      Seen<S> from = frontier.remove();
      for (Model.Step<S> step : model.steps(from.state())) {
        String broken = look(new Seen<>(step.next(), step.event(), from, from.depth() + 1));
        if (broken != null) {
          return ended(broken);
        }
      }
    }
    return new Exploration(identities.size(), generated, depth, null);
  }

  /** Queues the state if it is new; returns the invariant that it breaks. */
  private @Nullable String look(Seen<S> seen) {
    generated++;
    if (!identities.add(model.identity(seen.state()))) {
      return null;
    }
    if (identities.size() > maxStates) {
      throw new IllegalStateException("more than " + maxStates + " states");
    }
    depth = Math.max(depth, seen.depth());
    frontier.add(seen);
    return model.broken(seen.state());
  }

  private Exploration ended(String broken) {
    List<String> trace = new ArrayList<>();
    for (Seen<S> at = frontier.getLast(); at != null; at = at.before()) {
      trace.add(at.event() + ": " + at.state());
    }
    Violation violation = new Violation(broken, trace.reversed());
    return new Exploration(identities.size(), generated, depth, violation);
  }
}
