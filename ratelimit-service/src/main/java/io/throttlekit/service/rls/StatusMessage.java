package io.throttlekit.service.rls;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Duration;
import com.google.protobuf.WireFormat;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Verdict;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The status of one descriptor, and its bytes as a {@code DescriptorStatus}.
 *
 * <p>Written without the generated message classes, which would need four builders for a few
 * numbers. Immutable.
 */
final class StatusMessage {
  static final long UINT32_MAX = 0xFFFF_FFFFL;
  private static final long NO_LIMIT = -1;
  private static final StatusMessage UNTOUCHED =
      new StatusMessage(Code.OK, NO_LIMIT, null, "", 0, 0);
  private static final StatusMessage UNLIMITED =
      new StatusMessage(Code.OK, NO_LIMIT, null, "", UINT32_MAX, 0);

  private final Code code;
  private final long requests;
  private final @Nullable LimitUnit unit;
  private final String name;
  private final int remaining;
  private final long secondsUntilReset;
  private final int limitSize;
  private final int resetSize;
  private final int size;

  /**
   * @param requests allowed by the limit or the concurrency limit, or {@link #NO_LIMIT}
   */
  private StatusMessage(
      Code code,
      long requests,
      @Nullable LimitUnit unit,
      String name,
      long remaining,
      long secondsUntilReset) {
    this.code = code;
    this.requests = requests;
    this.unit = unit;
    this.name = name;
    this.remaining = uint32(remaining);
    this.secondsUntilReset = secondsUntilReset;
    this.limitSize = requests == NO_LIMIT ? 0 : sizeOfLimit();
    this.resetSize =
        secondsUntilReset == 0
            ? 0
            : CodedOutputStream.computeInt64Size(Duration.SECONDS_FIELD_NUMBER, secondsUntilReset);
    this.size = size();
  }

  static StatusMessage of(Verdict verdict) {
    Rule rule = verdict.rule();
    Limit limit = verdict.limit();
    if (rule == null) {
      return UNTOUCHED;
    }
    if (verdict.decision() == null) {
      return UNLIMITED;
    }
    return new StatusMessage(
        verdict.refused() ? Code.OVER_LIMIT : Code.OK,
        verdict.requestsPerUnit(),
        limit == null ? null : limit.unit(),
        rule.name(),
        verdict.remaining(),
        verdict.secondsUntilReset());
  }

  /** Returns the units that a status reports as left, which are all of them without a limit. */
  static long remaining(Verdict verdict) {
    boolean unlimited = verdict.rule() != null && verdict.decision() == null;
    return unlimited ? UINT32_MAX : verdict.remaining();
  }

  /** Returns how many bytes {@link #writeTo} writes. */
  int sizeInResponse() {
    return CodedOutputStream.computeTagSize(RateLimitResponse.STATUSES_FIELD_NUMBER)
        + CodedOutputStream.computeUInt32SizeNoTag(size)
        + size;
  }

  /** Writes the status as a field of the response. */
  void writeTo(CodedOutputStream out) throws IOException {
    begin(out, RateLimitResponse.STATUSES_FIELD_NUMBER, size);
    out.writeEnum(DescriptorStatus.CODE_FIELD_NUMBER, code.getNumber());
    if (requests != NO_LIMIT) {
      begin(out, DescriptorStatus.CURRENT_LIMIT_FIELD_NUMBER, limitSize);
      writeLimitTo(out);
    }
    // proto3 omits zeros
    if (remaining != 0) {
      out.writeUInt32(DescriptorStatus.LIMIT_REMAINING_FIELD_NUMBER, remaining);
    }
    if (requests != NO_LIMIT) {
      begin(out, DescriptorStatus.DURATION_UNTIL_RESET_FIELD_NUMBER, resetSize);
      if (secondsUntilReset != 0) {
        out.writeInt64(Duration.SECONDS_FIELD_NUMBER, secondsUntilReset);
      }
    }
  }

  private int size() {
    int bytes =
        CodedOutputStream.computeEnumSize(DescriptorStatus.CODE_FIELD_NUMBER, code.getNumber());
    if (requests != NO_LIMIT) {
      bytes += nested(DescriptorStatus.CURRENT_LIMIT_FIELD_NUMBER, limitSize);
      bytes += nested(DescriptorStatus.DURATION_UNTIL_RESET_FIELD_NUMBER, resetSize);
    }
    if (remaining != 0) {
      bytes +=
          CodedOutputStream.computeUInt32Size(
              DescriptorStatus.LIMIT_REMAINING_FIELD_NUMBER, remaining);
    }
    return bytes;
  }

  private static int nested(int field, int size) {
    return CodedOutputStream.computeTagSize(field)
        + CodedOutputStream.computeUInt32SizeNoTag(size)
        + size;
  }

  private static void begin(CodedOutputStream out, int field, int size) throws IOException {
    out.writeTag(field, WireFormat.WIRETYPE_LENGTH_DELIMITED);
    out.writeUInt32NoTag(size);
  }

  private int sizeOfLimit() {
    int perUnit = uint32(requests);
    int number = number(unit);
    int bytes = 0;
    if (perUnit != 0) {
      bytes +=
          CodedOutputStream.computeUInt32Size(RateLimit.REQUESTS_PER_UNIT_FIELD_NUMBER, perUnit);
    }
    if (number != 0) {
      bytes += CodedOutputStream.computeEnumSize(RateLimit.UNIT_FIELD_NUMBER, number);
    }
    if (!name.isEmpty()) {
      bytes += CodedOutputStream.computeStringSize(RateLimit.NAME_FIELD_NUMBER, name);
    }
    return bytes;
  }

  private void writeLimitTo(CodedOutputStream out) throws IOException {
    int perUnit = uint32(requests);
    int number = number(unit);
    if (perUnit != 0) {
      out.writeUInt32(RateLimit.REQUESTS_PER_UNIT_FIELD_NUMBER, perUnit);
    }
    if (number != 0) {
      out.writeEnum(RateLimit.UNIT_FIELD_NUMBER, number);
    }
    if (!name.isEmpty()) {
      out.writeString(RateLimit.NAME_FIELD_NUMBER, name);
    }
  }

  private static int number(@Nullable LimitUnit unit) {
    return switch (unit) {
      case null -> RateLimit.Unit.UNKNOWN_VALUE;
      case SECOND -> RateLimit.Unit.SECOND_VALUE;
      case MINUTE -> RateLimit.Unit.MINUTE_VALUE;
      case HOUR -> RateLimit.Unit.HOUR_VALUE;
      case DAY -> RateLimit.Unit.DAY_VALUE;
      case WEEK -> RateLimit.Unit.WEEK_VALUE;
      case MONTH -> RateLimit.Unit.MONTH_VALUE;
      case YEAR -> RateLimit.Unit.YEAR_VALUE;
    };
  }

  /** Returns the bits of an unsigned 32-bit number, capped at the largest one. */
  private static int uint32(long value) {
    return (int) Math.min(value, UINT32_MAX);
  }
}
