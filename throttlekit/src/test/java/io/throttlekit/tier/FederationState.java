package io.throttlekit.tier;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.FederationListener;
import java.util.Set;

/**
 * The state of one process's federation that outlives a call, to distinguish moments, and its
 * events. For one thread.
 */
final class FederationState implements FederationListener {
  private final ManualTime time;
  private final Set<String> reached;
  private boolean answers = true;
  private long answeredNanos;
  private long changedNanos;
  private long probedNanos;

  /** When a lease began and when its escrow answered, by which its answer is judged. */
  private String sinceInWords = "";

  FederationState(ManualTime time, Set<String> reached) {
    this.time = time;
    this.reached = reached;
  }

  long nowNanos() {
    return time.monotonicNanos();
  }

  void since(String inWords) {
    sinceInWords = inWords;
  }

  /** Returns the state of the lease that begins now. */
  String takeSince() {
    String since = sinceInWords.isEmpty() ? "from " + nowNanos() : sinceInWords;
    sinceInWords = "";
    return since;
  }

  void probed() {
    probedNanos = nowNanos();
  }

  @Override
  public void leasedFromCoordinator(long wanted, long granted) {
    answeredNanos = nowNanos();
  }

  @Override
  public void coordinatorBreakerOpen() {
    reached.add("lease: left alone");
  }

  @Override
  public void coordinatorAnswers(boolean now) {
    answers = now;
    answeredNanos = now ? nowNanos() : answeredNanos;
    changedNanos = nowNanos();
  }

  @Override
  public void returned(long units, boolean taken) {
    reached.add(taken ? "return: taken" : "return: worth nothing");
  }

  @Override
  public String toString() {
    return answers
        ? "answered " + answeredNanos
        : "silent since %d, probed %d".formatted(changedNanos, probedNanos);
  }
}
