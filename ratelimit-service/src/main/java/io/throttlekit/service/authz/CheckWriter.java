package io.throttlekit.service.authz;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.envoyproxy.envoy.service.auth.v3.DeniedHttpResponse;
import io.envoyproxy.envoy.service.auth.v3.OkHttpResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.grpc.Status.Code;
import io.throttlekit.descriptors.policy.Denial;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.ExtrasFactory;
import io.throttlekit.service.rls.JsonValue;
import io.throttlekit.service.rls.ResponseExtras;
import io.throttlekit.service.rls.ResponseExtras.Header;
import java.util.Map;

/**
 * Writes an answer as the message that Envoy reads.
 *
 * <p>A response always has a status, because Envoy admits a request without one. A refusal always
 * has an HTTP error status, because Envoy would send any other status to the client. Thread-safe.
 */
record CheckWriter(ExtrasFactory extras) {
  private static final int FORBIDDEN = 403;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int MIN_SERVER_ERROR = 500;
  private static final int SERVICE_UNAVAILABLE = 503;

  /** Returns the bytes of a {@code CheckResponse}. */
  byte[] write(RateLimitRequest request, Answer answer) {
    return (answer.admitted() ? admission(request, answer) : refusal(request, answer))
        .toByteArray();
  }

  private CheckResponse admission(RateLimitRequest request, Answer answer) {
    ResponseExtras more = extras.of(request, answer);
    OkHttpResponse.Builder ok = OkHttpResponse.newBuilder();
    for (Header header : more.headers()) {
      ok.addResponseHeadersToAdd(option(header));
    }
    return response(Code.OK, more.metadata()).setOkResponse(ok).build();
  }

  private CheckResponse refusal(RateLimitRequest request, Answer answer) {
    if (answer.verdicts().isEmpty()) { // no rule decided: there are no headers or metadata
      return response(Code.PERMISSION_DENIED, Map.of())
          .setDeniedResponse(DeniedHttpResponse.newBuilder().setStatus(status(FORBIDDEN)))
          .build();
    }
    ResponseExtras more = extras.of(request, answer);
    int status = statusOf(answer);
    DeniedHttpResponse.Builder denied =
        DeniedHttpResponse.newBuilder().setStatus(status(status)).setBody(more.body());
    for (Header header : more.headers()) {
      denied.addHeaders(option(header));
    }
    Code code = status < MIN_SERVER_ERROR ? Code.RESOURCE_EXHAUSTED : Code.UNAVAILABLE;
    return response(code, more.metadata()).setDeniedResponse(denied).build();
  }

  private static CheckResponse.Builder response(Code code, Map<String, ?> metadata) {
    CheckResponse.Builder response = CheckResponse.newBuilder();
    response.getStatusBuilder().setCode(code.value());
    if (!metadata.isEmpty()) {
      response.setDynamicMetadata(JsonValue.struct(metadata));
    }
    return response;
  }

  private static HeaderValueOption.Builder option(Header header) {
    return HeaderValueOption.newBuilder()
        .setHeader(HeaderValue.newBuilder().setKey(header.name()).setValue(header.value()));
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
}
