package io.throttlekit.service.authz;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.envoyproxy.envoy.service.auth.v3.DeniedHttpResponse;
import io.envoyproxy.envoy.service.auth.v3.OkHttpResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.grpc.Status.Code;
import io.throttlekit.descriptors.Denial;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.AnswerExtras;
import java.util.function.Supplier;

/**
 * Writes an answer as the message that Envoy reads.
 *
 * <p>A response always has a status, because Envoy admits a request without one. A refusal always
 * has an HTTP error status, because Envoy would send any other status to the client. Thread-safe.
 */
final class CheckWriter {
  private static final int FORBIDDEN = 403;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int MIN_SERVER_ERROR = 500;
  private static final int SERVICE_UNAVAILABLE = 503;

  private final AnswerExtras extras;

  CheckWriter(AnswerExtras extras) {
    this.extras = extras;
  }

  /**
   * Returns the bytes of a {@code CheckResponse}.
   *
   * @param asked supplies the request if the metadata include it
   */
  byte[] write(Answer answer, Supplier<RateLimitRequest> asked) {
    return (answer.admitted() ? admission(answer, asked) : refusal(answer, asked)).toByteArray();
  }

  private CheckResponse admission(Answer answer, Supplier<RateLimitRequest> asked) {
    RateLimitResponse told = told(answer, asked);
    OkHttpResponse.Builder ok = OkHttpResponse.newBuilder();
    for (HeaderValue header : told.getResponseHeadersToAddList()) {
      ok.addResponseHeadersToAdd(HeaderValueOption.newBuilder().setHeader(header));
    }
    return response(Code.OK, told).setOkResponse(ok).build();
  }

  private CheckResponse refusal(Answer answer, Supplier<RateLimitRequest> asked) {
    if (answer.verdicts().isEmpty()) { // no rule decided: there are no headers or metadata
      return response(Code.PERMISSION_DENIED, RateLimitResponse.getDefaultInstance())
          .setDeniedResponse(DeniedHttpResponse.newBuilder().setStatus(status(FORBIDDEN)))
          .build();
    }
    RateLimitResponse told = told(answer, asked);
    int status = statusOf(answer);
    DeniedHttpResponse.Builder denied =
        DeniedHttpResponse.newBuilder().setStatus(status(status)).setBodyBytes(told.getRawBody());
    for (HeaderValue header : told.getResponseHeadersToAddList()) {
      denied.addHeaders(HeaderValueOption.newBuilder().setHeader(header));
    }
    Code code = status < MIN_SERVER_ERROR ? Code.RESOURCE_EXHAUSTED : Code.UNAVAILABLE;
    return response(code, told).setDeniedResponse(denied).build();
  }

  private static CheckResponse.Builder response(Code code, RateLimitResponse told) {
    CheckResponse.Builder response = CheckResponse.newBuilder();
    response.getStatusBuilder().setCode(code.value());
    if (told.hasDynamicMetadata()) {
      response.setDynamicMetadata(told.getDynamicMetadata());
    }
    return response;
  }

  private static HttpStatus status(int status) {
    return HttpStatus.newBuilder().setCodeValue(status).build();
  }

  /**
   * Returns the HTTP status of a refusal: the rule's own, otherwise 503 for a concurrency limit and
   * 429 for a rate limit.
   */
  private static int statusOf(Answer answer) {
    Verdict refusing = answer.refusing();
    Rule rule = refusing == null ? null : refusing.rule();
    if (rule == null) {
      return TOO_MANY_REQUESTS;
    }
    Denial denial = rule.denial();
    if (denial != null && denial.status() > 0) {
      return denial.status();
    }
    return rule.concurrency() == null ? TOO_MANY_REQUESTS : SERVICE_UNAVAILABLE;
  }

  private RateLimitResponse told(Answer answer, Supplier<RateLimitRequest> asked) {
    return extras.of(answer, extras.reportsWhatWasRequested() ? asByFilter(asked.get()) : null);
  }

  /** Returns the request in the form of Envoy's rate limit filter. */
  private static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest asByFilter(
      RateLimitRequest asked) {
    var message =
        io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.newBuilder()
            .setDomain(asked.domain());
    for (Descriptor descriptor : asked.descriptors()) {
      RateLimitDescriptor.Builder entries = message.addDescriptorsBuilder();
      String[] texts = descriptor.entries();
      for (int i = 0; i + 1 < texts.length; i += 2) {
        entries.addEntriesBuilder().setKey(texts[i]).setValue(texts[i + 1]);
      }
    }
    return message.build();
  }
}
