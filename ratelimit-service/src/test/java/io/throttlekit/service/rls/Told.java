package io.throttlekit.service.rls;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import java.util.stream.Collectors;

/** Formats answers in the notation of the reference cases: {@code OK [OK 10/DAY rem=9]}. */
public final class Told {

  private Told() {}

  /** Formats one answer; a status without a limit ends after its code, or after the remainder. */
  public static String of(RateLimitResponse response) {
    return response.getOverallCode()
        + response.getStatusesList().stream()
            .map(Told::status)
            .collect(Collectors.joining("; ", " [", "]"));
  }

  private static String status(DescriptorStatus status) {
    StringBuilder text = new StringBuilder(status.getCode().toString());
    long remaining = Integer.toUnsignedLong(status.getLimitRemaining());
    if (status.hasCurrentLimit()) {
      RateLimit limit = status.getCurrentLimit();
      text.append(' ')
          .append(Integer.toUnsignedLong(limit.getRequestsPerUnit()))
          .append('/')
          .append(limit.getUnit());
      if (!limit.getName().isEmpty()) {
        text.append(" name=").append(limit.getName());
      }
    }
    if (status.hasCurrentLimit() || remaining != 0) {
      text.append(" rem=").append(remaining);
    }
    return text.toString();
  }
}
