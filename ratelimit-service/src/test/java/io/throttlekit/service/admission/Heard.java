package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** The result of a request, received at once or before the test continued. */
final class Heard implements Admission.Later {
  private long patienceNanos = Long.MAX_VALUE;
  private @Nullable Runnable whenGone;
  @Nullable Throwable failure;
  private @Nullable Answer answer;

  private Heard() {}

  /** Decides a request of a caller with a wait timeout of {@code patienceNanos}. */
  static Heard of(Admission admission, RateLimitRequest request, long patienceNanos) {
    Heard heard = new Heard();
    heard.patienceNanos = patienceNanos;
    Answer atOnce = admission.decide(request, heard);
    if (atOnce != null) {
      heard.answered(atOnce);
    }
    return heard;
  }

  /** Cancels the request before it has an answer. */
  void leave() {
    if (whenGone != null) {
      whenGone.run();
    }
  }

  boolean isAnswered() {
    return answer != null;
  }

  @Override
  public void whenGone(Runnable action) {
    whenGone = action;
  }

  @Override
  public long patienceNanos() {
    return patienceNanos;
  }

  static Heard of(Admission admission, RateLimitRequest request) {
    Heard heard = new Heard();
    Answer atOnce = admission.decide(request, heard);
    if (atOnce != null) {
      heard.answered(atOnce);
    }
    return heard;
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
      throw new AssertionError("told twice");
    }
  }
}
