package io.throttlekit.service.cli;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import java.util.Locale;

/** Answers of the service as people read them. */
final class AnswerInWords {

  private AnswerInWords() {}

  static String overall(RateLimitResponse response) {
    return switch (response.getOverallCode()) {
      case OK -> "OK: the request may pass";
      case OVER_LIMIT -> "OVER_LIMIT: the request is refused";
      default -> response.getOverallCode() + ": the service did not decide";
    };
  }

  static String of(DescriptorStatus status) {
    if (!status.hasCurrentLimit()) {
      return status.getCode() + ", no limit";
    }
    RateLimit limit = status.getCurrentLimit();
    String name = limit.getName().isEmpty() ? "" : " (" + limit.getName() + ")";
    String unit =
        limit.getUnit() == RateLimit.Unit.UNKNOWN
            ? ""
            : " per " + limit.getUnit().name().toLowerCase(Locale.ROOT);
    return "%s, %s of %s%s left%s, resets in %s"
        .formatted(
            status.getCode(),
            Integer.toUnsignedString(status.getLimitRemaining()),
            Integer.toUnsignedString(limit.getRequestsPerUnit()),
            unit,
            name,
            seconds(status.getDurationUntilReset()));
  }

  private static String seconds(Duration duration) {
    return duration.getNanos() == 0
        ? duration.getSeconds() + " s"
        : String.format(
            Locale.ROOT, "%.3f s", duration.getSeconds() + duration.getNanos() / 1_000_000_000.0);
  }
}
