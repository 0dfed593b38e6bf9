package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.telemetry.DecisionSpan;
import io.throttlekit.service.telemetry.Failure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call in progress. Ends it exactly once, with an answer or an error.
 *
 * <p>A caller that is gone is not answered; what was charged for it stays charged.
 */
final class RateLimitCall extends ServerCall.Listener<RateLimitRequest> implements Later {
  private static final Logger LOG = LoggerFactory.getLogger(RateLimitCall.class);
  private static final long NOT_STARTED = Long.MIN_VALUE;

  private final ShouldRateLimit service;
  private final ServerCall<RateLimitRequest, RateLimitResponse> call;
  private final @Nullable DecisionSpan span;
  private @Nullable RateLimitRequest request;
  private boolean ended;
  private long startNanos = NOT_STARTED;

  RateLimitCall(
      ShouldRateLimit service,
      ServerCall<RateLimitRequest, RateLimitResponse> call,
      @Nullable DecisionSpan span) {
    this.service = service;
    this.call = call;
    this.span = span;
  }

  @Override
  public void onMessage(RateLimitRequest message) {
    request = message;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // the stand-in for bytes that could not be parsed
  public void onHalfClose() {
    RateLimitRequest complete = request;
    if (ended) {
      return;
    }
    if (complete == null) {
      fail(Status.INVALID_ARGUMENT.withDescription("a call has one request, this one has none"));
    } else if (complete == ShouldRateLimit.MALFORMED) {
      fail(Status.INVALID_ARGUMENT.withDescription("the request is not a valid protobuf message"));
    } else {
      decide(complete);
    }
  }

  @Override
  public void onCancel() {
    if (!ended) {
      end();
    }
  }

  @Override
  public void answered(Answer answer) {
    try {
      reply(answer);
    } catch (RuntimeException unexpected) {
      failed(unexpected);
    }
  }

  @Override
  public void failed(Throwable cause) {
    switch (cause) {
      case InvalidRequestException invalid ->
          fail(Status.INVALID_ARGUMENT.withDescription(invalid.getMessage()));
      case NoPoliciesException notYet ->
          fail(Status.UNAVAILABLE.withDescription(notYet.getMessage()));
      default -> {
        LOG.error("a rate limit request failed", cause);
        fail(Status.INTERNAL.withDescription("internal error"));
      }
    }
  }

  private void decide(RateLimitRequest complete) {
    startNanos = service.time.monotonicNanos();
    try {
      Answer answer = service.frontEnd.decide(service.frontEnd.read(complete), this);
      if (answer != null) {
        reply(answer);
      }
    } catch (RuntimeException cause) {
      failed(cause);
    }
  }

  private void reply(Answer answer) {
    RateLimitRequest complete = request;
    if (ended || complete == null) {
      return;
    }
    RateLimitResponse response = service.frontEnd.write(complete, answer);
    if (span != null) {
      Trace.decided(span, complete.getDomain(), answer);
    }
    end();
    if (!call.isCancelled()) {
      call.sendHeaders(new Metadata());
      call.sendMessage(response);
      call.close(Status.OK, new Metadata());
    }
  }

  private void fail(Status status) {
    if (ended) {
      return;
    }
    service.metrics.failed(Failure.SERVICE);
    if (span != null) {
      span.failed(String.valueOf(status.getDescription()));
    }
    end();
    call.close(status, new Metadata());
  }

  private void end() {
    ended = true;
    if (startNanos != NOT_STARTED) {
      service.metrics.answered(service.time.monotonicNanos() - startNanos);
    }
    if (span != null) {
      span.end();
    }
  }
}
