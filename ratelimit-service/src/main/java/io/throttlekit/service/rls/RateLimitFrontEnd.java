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
 * Answers Envoy's rate-limit requests, whichever way they come in. Thread-safe.
 *
 * <p>A caller that can be told later goes through {@link #read}, {@link #decide} and {@link
 * #write}; one that may block takes {@link #answer}.
 */
public final class RateLimitFrontEnd implements FrontEnd {
  private final Admission admission;
  private final RequestReader reader;
  private final ResponseWriter writer;

  /**
   * A front end to {@code admission}.
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
   * @throws InvalidRequestException when they are not a request that could be answered
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
   * The bytes of the {@code RateLimitResponse} that answers {@code message}: never empty, never of
   * unknown code.
   */
  @Override
  public byte[] write(byte[] message, Answer answer) {
    return writer.write(message, answer);
  }

  /**
   * Reads, decides and writes, waiting where a store has to be asked; never on an event loop. For
   * callers that cannot lose the answer, as {@link Answered} can be lost.
   *
   * @throws InvalidRequestException when the message is not a request that could be answered
   * @throws NoPoliciesException when no policies were ever loaded
   * @throws StoreException when a store that was needed did not answer
   */
  public RateLimitResponse answer(
      io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest message) {
    return Answered.by(this, message).response();
  }
}
