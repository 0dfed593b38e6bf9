package io.throttlekit.service.http;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.service.rls.Answered;
import java.util.concurrent.Callable;

/** Answers what a body asks for. Thread-safe. */
@FunctionalInterface
public interface JsonDecider {

  /**
   * Reads the body, so that one that is no request can be counted too, and answers it.
   *
   * @return whoever cannot pass it on says that it is lost
   * @throws Exception what {@code body} throws, and what {@code RateLimitFrontEnd.answer} throws
   */
  Answered answer(Callable<RateLimitRequest> body) throws Exception;
}
