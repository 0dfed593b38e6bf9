package io.throttlekit.bench.server;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceImplBase;
import io.grpc.stub.StreamObserver;

/**
 * Baseline: parses a request, decides nothing, and returns one OK status that is built for each
 * call, with as many fields as a real one.
 */
final class NoOpService extends RateLimitServiceImplBase {

  @Override
  public void shouldRateLimit(RateLimitRequest request, StreamObserver<RateLimitResponse> reply) {
    int entries =
        request.getDescriptorsCount() == 0 ? 0 : request.getDescriptors(0).getEntriesCount();
    DescriptorStatus status =
        DescriptorStatus.newBuilder()
            .setCode(Code.OK)
            .setCurrentLimit(
                RateLimit.newBuilder()
                    .setRequestsPerUnit(1_000_000_000)
                    .setUnit(RateLimit.Unit.HOUR))
            .setLimitRemaining(999_999_999 - entries)
            .setDurationUntilReset(Duration.newBuilder().setSeconds(1_800))
            .build();
    reply.onNext(
        RateLimitResponse.newBuilder().setOverallCode(Code.OK).addStatuses(status).build());
    reply.onCompleted();
  }
}
