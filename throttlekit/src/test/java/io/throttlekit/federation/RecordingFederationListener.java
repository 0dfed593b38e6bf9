package io.throttlekit.federation;

import java.util.ArrayList;
import java.util.List;

/** Records the events of a federation as text. For one thread. */
final class RecordingFederationListener implements FederationListener {
  final List<String> events = new ArrayList<>();

  @Override
  public void leasedFromEscrow(long wanted, long granted) {
    events.add("escrow " + granted + " of " + wanted);
  }

  @Override
  public void escrowFailed(String failureReason) {
    events.add("escrow failed: " + failureReason);
  }

  @Override
  public void refilled(long units) {
    events.add("refilled " + units);
  }

  @Override
  public void leasedFromCoordinator(long wanted, long granted) {
    events.add("coordinator " + granted + " of " + wanted);
  }

  @Override
  public void coordinatorFailed(String failureReason) {
    events.add("coordinator failed: " + failureReason);
  }

  @Override
  public void coordinatorBreakerOpen() {
    events.add("left alone");
  }

  @Override
  public void coordinatorAnswers(boolean answers) {
    events.add("answers " + answers);
  }

  @Override
  public void returned(long units, boolean taken) {
    events.add("returned " + units + " " + taken);
  }

  @Override
  public void lost(Loss where, long units) {
    events.add("lost " + units + " " + where);
  }

  @Override
  public void mismatch(String inWords) {
    events.add("mismatch: " + inWords);
  }
}
