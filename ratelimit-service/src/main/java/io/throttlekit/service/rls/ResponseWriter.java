package io.throttlekit.service.rls;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.descriptors.LimitUnit;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.DeniedBody;
import io.throttlekit.service.config.ResponseConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns an answer into the message that Envoy reads. Thread-safe. */
final class ResponseWriter {
  private static final long UINT32_MAX = 0xFFFF_FFFFL;

  private final TimeSource time;
  private final HeaderWriter headers;
  private final @Nullable MetadataWriter metadata;
  private final ByteString deniedBody;
  private final HeaderValue deniedContentType;

  ResponseWriter(ResponseConfig config, CompatibilityConfig compatibility, TimeSource time) {
    this.time = time;
    this.headers = new HeaderWriter(config);
    this.metadata =
        config.dynamicMetadata() ? new MetadataWriter(!compatibility.chargeRejected()) : null;
    DeniedBody body = config.deniedBody();
    this.deniedBody = ByteString.copyFromUtf8(body.text());
    this.deniedContentType =
        HeaderValue.newBuilder().setKey("content-type").setValue(body.contentType()).build();
  }

  RateLimitResponse write(RateLimitRequest request, Answer answer) {
    long now = time.wallMillis();
    RateLimitResponse.Builder response =
        RateLimitResponse.newBuilder()
            .setOverallCode(answer.admitted() ? Code.OK : Code.OVER_LIMIT);
    List<Verdict> verdicts = answer.verdicts();
    for (int i = 0; i < verdicts.size(); i++) {
      response.addStatuses(status(verdicts.get(i), now));
    }
    headers.addTo(response, answer, now);
    if (!answer.admitted() && !deniedBody.isEmpty()) {
      response.setRawBody(deniedBody).addResponseHeadersToAdd(deniedContentType);
    }
    if (metadata != null) {
      response.setDynamicMetadata(metadata.write(request, answer));
    }
    return response.build();
  }

  private static DescriptorStatus status(Verdict verdict, long now) {
    Rule rule = verdict.rule();
    Limit limit = verdict.limit();
    Decision decision = verdict.decision();
    if (rule == null) {
      return Constants.UNTOUCHED;
    }
    if (limit == null || decision == null) {
      return Constants.UNLIMITED;
    }
    return DescriptorStatus.newBuilder()
        .setCode(verdict.refused() ? Code.OVER_LIMIT : Code.OK)
        .setCurrentLimit(currentLimit(rule, limit))
        .setLimitRemaining(uint32(verdict.remaining()))
        .setDurationUntilReset(
            Duration.newBuilder().setSeconds(Seconds.untilReset(limit, decision, now)))
        .build();
  }

  private static RateLimit currentLimit(Rule rule, Limit limit) {
    RateLimit.Builder current =
        RateLimit.newBuilder()
            .setRequestsPerUnit(uint32(limit.requestsPerUnit()))
            .setUnit(unit(limit.unit()));
    if (!rule.name().isEmpty()) {
      current.setName(rule.name());
    }
    return current.build();
  }

  private static RateLimit.Unit unit(@Nullable LimitUnit unit) {
    return switch (unit) {
      case null -> RateLimit.Unit.UNKNOWN;
      case SECOND -> RateLimit.Unit.SECOND;
      case MINUTE -> RateLimit.Unit.MINUTE;
      case HOUR -> RateLimit.Unit.HOUR;
      case DAY -> RateLimit.Unit.DAY;
      case WEEK -> RateLimit.Unit.WEEK;
      case MONTH -> RateLimit.Unit.MONTH;
      case YEAR -> RateLimit.Unit.YEAR;
    };
  }

  /** The bits of an unsigned 32-bit number, at most the largest one. */
  private static int uint32(long value) {
    return (int) Math.min(value, UINT32_MAX);
  }

  /** Statuses that are always the same. */
  private static final class Constants {
    static final DescriptorStatus UNTOUCHED =
        DescriptorStatus.newBuilder().setCode(Code.OK).build();
    static final DescriptorStatus UNLIMITED =
        DescriptorStatus.newBuilder().setCode(Code.OK).setLimitRemaining((int) UINT32_MAX).build();
  }
}
