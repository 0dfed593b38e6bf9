package io.throttlekit.service.rls;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.TimeSource;
import io.throttlekit.service.telemetry.Failure;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.StoreException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests that come as JSON, and counts each of them once, as those over gRPC are: how
 * long it took, and that it failed when it did. Thread-safe.
 */
public final class JsonFrontEnd {
  private final FrontEnd frontEnd;
  private final RateLimitMetrics metrics;
  private final TimeSource time;

  /** Counts what {@code frontEnd} answers. */
  public JsonFrontEnd(FrontEnd frontEnd, RateLimitMetrics metrics, TimeSource time) {
    this.frontEnd = frontEnd;
    this.metrics = metrics;
    this.time = time;
  }

  /**
   * Reads, decides and writes, waiting where a store has to be asked; never on an event loop.
   *
   * @param body reads the message; what it throws counts as a failure and is thrown on
   * @return whoever cannot pass it on says that it is lost
   * @throws Exception what {@code body} or {@link RateLimitFrontEnd#answer} throws
   */
  public Answered answer(Callable<RateLimitRequest> body) throws Exception {
    long start = time.monotonicNanos();
    @Nullable Failure failure = Failure.SERVICE;
    try {
      Answered answered = Answered.by(frontEnd, body.call());
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
