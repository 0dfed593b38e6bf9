package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit;
import io.throttlekit.service.rls.OwnFields;
import org.junit.jupiter.api.Test;

class ResponseTextTest {

  @Test
  void aBurstCanLeaveMoreThanTheLimit() {
    DescriptorStatus.Builder status = status(Code.OK, 19, 10, Unit.SECOND).toBuilder();
    Field burst = Field.newBuilder().addVarint(20).build();
    status
        .getCurrentLimitBuilder()
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(OwnFields.BURST, burst).build());
    assertThat(new ResponseText(1).of(status.build()))
        .isEqualTo("OK, 19 left, limit 10 per second, burst 20 (x), resets in 3 s");
    status.setCode(Code.OVER_LIMIT);
    assertThat(new ResponseText(20).of(status.build()))
        .startsWith("OVER_LIMIT, 19 left for a cost of 20, limit");
    assertThat(new ResponseText(21).of(status.build()))
        .startsWith("OVER_LIMIT, 19 left for a cost of 21, which never fits, limit");
  }

  @Test
  void aWindowThatIsNoUnitOfTheProtocolIsADuration() {
    DescriptorStatus.Builder status = status(Code.OK, 9, 10, Unit.UNKNOWN).toBuilder();
    assertThat(new ResponseText(1).of(status.build()))
        .isEqualTo(
            "OK, 9 left, limit 10 in flight, or per a window that the response does not name (x),"
                + " resets in 3 s");
    Field millis = Field.newBuilder().addVarint(10_000).build();
    UnknownFieldSet fields =
        UnknownFieldSet.newBuilder().addField(OwnFields.WINDOW_MILLIS, millis).build();
    status.getCurrentLimitBuilder().setUnknownFields(fields);
    assertThat(new ResponseText(1).of(status.build()))
        .isEqualTo("OK, 9 left, limit 10 per 10s (x), resets in 3 s");
  }

  @Test
  void aRefusedCostThatNeverFitsIsReportedAsSuch() {
    assertThat(new ResponseText(10).of(status(Code.OVER_LIMIT, 4, 10, Unit.DAY)))
        .startsWith("OVER_LIMIT, 4 left for a cost of 10, limit 10 per day");
    assertThat(new ResponseText(11).of(status(Code.OVER_LIMIT, 4, 10, Unit.DAY)))
        .startsWith("OVER_LIMIT, 4 left for a cost of 11, which never fits, limit 10 per day");
    assertThat(new ResponseText(11).of(status(Code.OK, 4, 10, Unit.DAY))).startsWith("OK, 4 left,");
  }

  @Test
  void aPeekIsDescribedAsAPeek() {
    assertThat(new ResponseText(0).overall(answer(Code.OK)))
        .isEqualTo("OK: just a look, nothing was charged");
    assertThat(new ResponseText(0).overall(answer(Code.OVER_LIMIT)))
        .isEqualTo("OVER_LIMIT: just a look, nothing was charged; a request would be refused");
    assertThat(new ResponseText(1).overall(answer(Code.OVER_LIMIT)))
        .isEqualTo("OVER_LIMIT: the request is refused");
    assertThat(new ResponseText(1).overall(answer(Code.UNKNOWN)))
        .isEqualTo("UNKNOWN: the service did not decide");
  }

  @Test
  void aDescriptorWithoutALimitIsDescribedAsSuch() {
    assertThat(new ResponseText(1).of(DescriptorStatus.newBuilder().setCode(Code.OK).build()))
        .isEqualTo("OK, no limit");
  }

  private static RateLimitResponse answer(Code code) {
    return RateLimitResponse.newBuilder().setOverallCode(code).build();
  }

  private static DescriptorStatus status(Code code, int remaining, int limit, Unit unit) {
    return DescriptorStatus.newBuilder()
        .setCode(code)
        .setLimitRemaining(remaining)
        .setCurrentLimit(
            RateLimit.newBuilder().setName("x").setRequestsPerUnit(limit).setUnit(unit))
        .setDurationUntilReset(Duration.newBuilder().setSeconds(3))
        .build();
  }
}
