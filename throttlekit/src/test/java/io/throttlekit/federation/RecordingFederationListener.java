package io.throttlekit.federation;

import java.util.ArrayList;
import java.util.List;

/** Records the events of a federation as text. For one thread. */
final class RecordingFederationListener implements FederationListener {
  final List<String> said = new ArrayList<>();

  @Override
  public void leasedFromEscrow(long wanted, long granted) {
    said.add("escrow " + granted + " of " + wanted);
  }

  @Override
  public void escrowFailed(String failureReason) {
    said.add("escrow failed: " + failureReason);
  }

  @Override
  public void refilled(long units) {
    said.add("refilled " + units);
  }

  @Override
  public void leasedFromCoordinator(long wanted, long granted) {
    said.add("coordinator " + granted + " of " + wanted);
  }

  @Override
  public void coordinatorFailed(String failureReason) {
    said.add("coordinator failed: " + failureReason);
  }

  @Override
  public void coordinatorBreakerOpen() {
    said.add("left alone");
  }

  @Override
  public void coordinatorAnswers(boolean answers) {
    said.add("answers " + answers);
  }

  @Override
  public void returned(long units, boolean taken) {
    said.add("returned " + units + " " + taken);
  }

  @Override
  public void lost(Loss where, long units) {
    said.add("lost " + units + " " + where);
  }

  @Override
  public void mismatch(String inWords) {
    said.add("mismatch: " + inWords);
  }
}
