package io.throttlekit.demo;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** A stack of clean-up steps, run in reverse order. Not thread-safe. */
public final class Undo implements AutoCloseable {
  private final Deque<Step> steps = new ArrayDeque<>();

  /** A clean-up step. */
  @FunctionalInterface
  public interface Step {
    /** Runs the step. */
    void undo() throws IOException;
  }

  /** Adds the clean-up step of something that was just started. */
  public void push(Step step) {
    steps.push(step);
  }

  /**
   * Runs every step, even after one fails.
   *
   * @throws IOException or any other exception of the first failure; later ones are suppressed in
   *     it
   */
  @Override
  public void close() throws IOException {
    Step step = steps.poll();
    if (step != null) {
      try (Undo _ = this) { // the remaining steps, even if this one fails
        step.undo();
      }
    }
  }
}
