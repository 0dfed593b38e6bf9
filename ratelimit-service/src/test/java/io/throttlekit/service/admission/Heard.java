package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** What came of a request, at once or before the test went on. */
final class Heard implements Admission.Later {
  @Nullable Throwable failure;
  private @Nullable Answer answer;

  private Heard() {}

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

  /** Of the first descriptor. */
  Verdict verdict() {
    return answer().verdicts().getFirst();
  }

  private void check() {
    if (answer != null || failure != null) {
      throw new AssertionError("told twice");
    }
  }
}
