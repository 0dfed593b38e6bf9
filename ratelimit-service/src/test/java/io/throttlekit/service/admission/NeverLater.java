package io.throttlekit.service.admission;

import io.throttlekit.service.admission.Admission.Later;

/** Fails the test if an answer is deferred: counters in memory answer at once. */
public record NeverLater() implements Later {
  @Override
  public void answered(Answer answer) {
    throw new AssertionError(answer);
  }

  @Override
  public void failed(Throwable cause) {
    throw new AssertionError(cause);
  }
}
