package io.throttlekit.service.http;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import java.util.concurrent.Callable;

/** Answers what a body asks for. Thread-safe. */
@FunctionalInterface
public interface JsonDecider {

  /**
   * Reads the body, so that one that is no request can be counted too, and answers it.
   *
   * @throws Exception what {@code body} throws, and what {@code RateLimitFrontEnd.answer} throws
   */
  RateLimitResponse answer(Callable<RateLimitRequest> body) throws Exception;
}
