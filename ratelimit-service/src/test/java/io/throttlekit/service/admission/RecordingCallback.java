package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** The result of a request, received at once or before the test continued. */
final class RecordingCallback implements AnswerCallback {
  private long waitTimeoutNanos = Long.MAX_VALUE;
  private @Nullable Runnable onCancelled;
  @Nullable Throwable failure;
  private @Nullable Answer answer;

  private RecordingCallback() {}

  /** Decides a request of a caller with a wait timeout of {@code waitTimeoutNanos}. */
  static RecordingCallback of(
      Admission admission, RateLimitRequest request, long waitTimeoutNanos) {
    RecordingCallback callback = new RecordingCallback();
    callback.waitTimeoutNanos = waitTimeoutNanos;
    Answer atOnce = admission.decide(request, callback);
    if (atOnce != null) {
      callback.answered(atOnce);
    }
    return callback;
  }

  /** Cancels the request before it has an answer. */
  void leave() {
    if (onCancelled != null) {
      onCancelled.run();
    }
  }

  boolean isAnswered() {
    return answer != null;
  }

  @Override
  public void onCancelled(Runnable action) {
    onCancelled = action;
  }

  @Override
  public long waitTimeoutNanos() {
    return waitTimeoutNanos;
  }

  static RecordingCallback of(Admission admission, RateLimitRequest request) {
    RecordingCallback callback = new RecordingCallback();
    Answer atOnce = admission.decide(request, callback);
    if (atOnce != null) {
      callback.answered(atOnce);
    }
    return callback;
  }

  @Override
  public void answered(Answer given) {
    check();
    answer = given;
  }

  @Override
  public void failed(Throwable cause) {
    check();
    failure = cause;
  }

  Answer answer() {
    if (answer == null) {
      throw new AssertionError("no answer", failure);
    }
    return answer;
  }

  /** Returns the verdict on the first descriptor. */
  Verdict verdict() {
    return answer().verdicts().getFirst();
  }

  private void check() {
    if (answer != null || failure != null) {
      throw new AssertionError("called twice");
    }
  }
}
