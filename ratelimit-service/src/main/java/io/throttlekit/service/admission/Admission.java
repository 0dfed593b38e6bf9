package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** Decides requests. Implementations are thread-safe and never block. */
public interface Admission {
  /**
   * Decides and charges one request.
   *
   * @param callback receives the answer exactly once, from any thread, if it is not known at once
   * @return the answer if it is known at once, which is nearly always; {@code callback} is then not
   *     used
   * @throws NoPoliciesException if no policies were ever loaded
   */
  @Nullable Answer decide(RateLimitRequest request, AnswerCallback callback);
}
