package io.throttlekit.service.rls;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Answers rate limit requests of Envoy, over any transport. Thread-safe.
 *
 * <p>Asynchronous callers use {@link #read}, {@link #decide} and {@link #write}; callers that may
 * block use {@link #answer}.
 */
public final class RateLimitFrontEnd implements FrontEnd {
  private final Admission admission;
  private final RequestReader reader;
  private final ResponseWriter writer;

  /**
   * Creates a front end to {@code admission}.
   *
   * @param limits of one request
   */
  public RateLimitFrontEnd(
      Admission admission,
      ResponseConfig response,
      CompatibilityConfig compatibility,
      GrpcConfig.Limits limits) {
    this.admission = admission;
    this.reader = new RequestReader(limits);
    this.writer = new ResponseWriter(response, compatibility);
  }

  /**
   * Reads the bytes of a {@code RateLimitRequest}.
   *
   * @throws InvalidRequestException if they are not a valid request
   */
  @Override
  public RateLimitRequest read(byte[] message) {
    return reader.read(message);
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, Later later) {
    return admission.decide(request, later);
  }

  /**
   * Returns the bytes of the {@code RateLimitResponse} to {@code message}: never empty, and never
   * with an unknown code.
   */
  @Override
  public byte[] write(byte[] message, Answer answer) {
    return writer.write(message, answer);
  }

  /**
   * Reads, decides and writes; blocks if a store is needed, so it must not run on an event loop.
   * For callers that always deliver the answer; others need {@link PendingResponse}.
   *
   * @throws InvalidRequestException if the message is not a valid request
   * @throws NoPoliciesException if no policies were ever loaded
   * @throws StoreException if a store that was needed did not answer
   */
  public RateLimitResponse answer(
      io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest message) {
    return PendingResponse.by(this, message).response();
  }
}
