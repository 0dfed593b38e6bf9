package io.throttlekit.service.admission;

/** Fails the test if an answer is deferred: counters in memory answer at once. */
public record NeverLater() implements AnswerCallback {
  @Override
  public void answered(Answer answer) {
    throw new AssertionError(answer);
  }

  @Override
  public void failed(Throwable cause) {
    throw new AssertionError(cause);
  }
}
