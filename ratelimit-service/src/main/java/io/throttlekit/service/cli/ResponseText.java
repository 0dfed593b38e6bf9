package io.throttlekit.service.cli;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.descriptors.policy.WindowText;
import io.throttlekit.service.rls.OwnFields;
import java.util.List;
import java.util.Locale;

/**
 * Formats responses of the service for people.
 *
 * @param hits cost of each descriptor of the request
 */
record ResponseText(long hits) {

  /** Returns whether the service has no policies for the domain of the request. */
  static boolean isOfUnknownDomain(RateLimitResponse response) {
    return response.getUnknownFields().hasField(OwnFields.UNKNOWN_DOMAIN);
  }

  String overall(RateLimitResponse response) {
    boolean look = hits == 0;
    return switch (response.getOverallCode()) {
      case OK -> look ? "OK: just a look, nothing was charged" : "OK: the request may pass";
      case OVER_LIMIT ->
          look
              ? "OVER_LIMIT: just a look, nothing was charged; a request would be refused"
              : "OVER_LIMIT: the request is refused";
      default -> response.getOverallCode() + ": the service did not decide";
    };
  }

  /**
   * Describes a status. Remaining units and limit are separate, not "x of y": with a burst, more
   * units can remain than the limit.
   */
  String of(DescriptorStatus status) {
    if (!status.hasCurrentLimit()) {
      return status.getCode() + ", no limit";
    }
    RateLimit limit = status.getCurrentLimit();
    String name = limit.getName().isEmpty() ? "" : " (" + limit.getName() + ")";
    return "%s, %s left%s, limit %s %s%s%s, resets in %s"
        .formatted(
            status.getCode(),
            Integer.toUnsignedString(status.getLimitRemaining()),
            tooMuch(status),
            Integer.toUnsignedString(limit.getRequestsPerUnit()),
            window(limit),
            burst(limit),
            name,
            seconds(status.getDurationUntilReset()));
  }

  /** Returns a remark on a cost, which the response does not contain. */
  private String tooMuch(DescriptorStatus status) {
    if (status.getCode() != Code.OVER_LIMIT || hits <= 1) {
      return "";
    }
    List<Long> burst = own(status.getCurrentLimit(), OwnFields.BURST);
    long most =
        burst.isEmpty()
            ? Integer.toUnsignedLong(status.getCurrentLimit().getRequestsPerUnit())
            : burst.getFirst();
    return " for a cost of " + hits + (hits > most ? ", which never fits" : "");
  }

  private static String burst(RateLimit limit) {
    List<Long> burst = own(limit, OwnFields.BURST);
    return burst.isEmpty() ? "" : ", burst " + burst.getFirst();
  }

  private static List<Long> own(RateLimit limit, int field) {
    return limit.getUnknownFields().getField(field).getVarintList();
  }

  private static String window(RateLimit limit) {
    if (limit.getUnit() != RateLimit.Unit.UNKNOWN) {
      return "per " + limit.getUnit().name().toLowerCase(Locale.ROOT);
    }
    List<Long> millis = own(limit, OwnFields.WINDOW_MILLIS);
    return millis.isEmpty()
        ? "in flight, or per a window that the response does not name"
        : "per " + WindowText.of(Math.max(1, millis.getFirst()));
  }

  private static String seconds(Duration duration) {
    return duration.getNanos() == 0
        ? duration.getSeconds() + " s"
        : String.format(
            Locale.ROOT, "%.3f s", duration.getSeconds() + duration.getNanos() / 1_000_000_000.0);
  }
}
