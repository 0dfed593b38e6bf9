package io.throttlekit.demo;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** How to undo what was begun, from the last step to the first. For one thread. */
public final class Undo implements AutoCloseable {
  private final Deque<Step> steps = new ArrayDeque<>();

  /** How to undo one step. */
  @FunctionalInterface
  public interface Step {
    /** Undoes it. */
    void undo() throws IOException;
  }

  /** Remembers how to undo what has just been begun. */
  public void push(Step step) {
    steps.push(step);
  }

  /**
   * Undoes every step, also after one that fails.
   *
   * @throws IOException or whatever else the first failure was; later ones are suppressed in it
   */
  @Override
  public void close() throws IOException {
    Step step = steps.poll();
    if (step != null) {
      try (Undo _ = this) { // the rest, whatever becomes of this one
        step.undo();
      }
    }
  }
}
