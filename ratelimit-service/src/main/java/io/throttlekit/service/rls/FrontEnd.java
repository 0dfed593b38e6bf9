package io.throttlekit.service.rls;

import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import org.jspecify.annotations.Nullable;

/**
 * One way in which Envoy asks: how its questions are read, decided and answered, from bytes to
 * bytes. Implementations are thread-safe and never block.
 */
public interface FrontEnd {

  /**
   * Reads a request.
   *
   * @throws InvalidRequestException when it is none that could be answered
   */
  RateLimitRequest read(byte[] message);

  /**
   * Decides and charges.
   *
   * @return null when {@code later} will be told
   * @throws InvalidRequestException when no policy could answer the request
   * @throws NoPoliciesException when no policies were ever loaded
   */
  @Nullable Answer decide(RateLimitRequest request, Later later);

  /** The answer to {@code message}; Envoy reads every one of them as it was decided. */
  byte[] write(byte[] message, Answer answer);
}
