package io.throttlekit.service.rls;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.TimeSource;
import io.throttlekit.service.telemetry.Failure;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.StoreException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Answers JSON requests and counts each of them once, as the gRPC service does: its latency, and
 * its failure if it fails. Thread-safe.
 */
public final class JsonFrontEnd {
  private final FrontEnd frontEnd;
  private final RateLimitMetrics metrics;
  private final TimeSource time;

  /** Creates a front end that counts the requests of {@code frontEnd}. */
  public JsonFrontEnd(FrontEnd frontEnd, RateLimitMetrics metrics, TimeSource time) {
    this.frontEnd = frontEnd;
    this.metrics = metrics;
    this.time = time;
  }

  /**
   * Reads, decides and writes; blocks if a store is needed, so it must not run on an event loop.
   *
   * @param body reads the message; an exception counts as a failure and is rethrown
   * @return the answer; a caller that cannot deliver it must call {@link PendingResponse#lost}
   * @throws Exception thrown by {@code body} or {@link RateLimitFrontEnd#answer}
   */
  public PendingResponse answer(Callable<RateLimitRequest> body) throws Exception {
    long start = time.monotonicNanos();
    @Nullable Failure failure = Failure.SERVICE;
    try {
      PendingResponse answered = PendingResponse.by(frontEnd, body.call());
      failure = null;
      return answered;
    } catch (StoreException outage) {
      failure = Failure.STORE;
      throw outage;
    } finally {
      if (failure != null) {
        metrics.failed(failure);
      }
      metrics.answered(time.monotonicNanos() - start);
    }
  }
}
