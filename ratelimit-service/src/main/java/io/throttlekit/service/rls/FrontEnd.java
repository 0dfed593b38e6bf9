package io.throttlekit.service.rls;

import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import org.jspecify.annotations.Nullable;

/**
 * A protocol in which Envoy requests decisions: reads requests, decides them and writes responses
 * as bytes. Implementations are thread-safe and never block.
 */
public interface FrontEnd {
  /**
   * Reads a request.
   *
   * @throws InvalidRequestException if the bytes are not a valid request
   */
  RateLimitRequest read(byte[] message);

  /**
   * Decides and charges a request.
   *
   * @return null if {@code callback} receives the answer
   * @throws InvalidRequestException if no policy could apply to the request
   * @throws NoPoliciesException if no policies were ever loaded
   */
  @Nullable Answer decide(RateLimitRequest request, AnswerCallback callback);

  /**
   * Returns the response to {@code request}, in a form that Envoy can only read as it was decided.
   */
  byte[] write(RateLimitRequest request, Answer answer);
}
