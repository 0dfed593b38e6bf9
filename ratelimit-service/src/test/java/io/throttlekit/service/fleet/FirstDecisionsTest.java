package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A fresh process, and the first decisions that it makes by a Redis. */
@RealRedis
class FirstDecisionsTest {
  private static final int DECISIONS = 1_000;
  private static final int IN_FLIGHT = 32;
  private static final int CONNECTIONS = 4;

  @TempDir private Path folder;

  @Test
  void noneOfTheFirstThousandStrictDecisionsAfterReadyFails() throws Exception {
    Path policies =
        Files.writeString(
            folder.resolve("p.yaml"),
            """
            domain: first
            descriptors:
              - {key: user, rate_limit: {unit: hour, requests_per_unit: 1000000}}
            """);
    try (RedisProcess redis = RedisProcess.start();
        ServiceProcess service =
            ServiceProcess.start(
                policies,
                Map.of(
                    "THROTTLEKIT_STORE_URI", redis.url(), "THROTTLEKIT_WARM_UP_REQUESTS", "50000"),
                0,
                folder.resolve("service.log"))) {
      List<ManagedChannel> channels =
          IntStream.range(0, CONNECTIONS).mapToObj(_ -> channel(service.port())).toList();
      Answers answers = new Answers();
      try {
        for (int i = 0; i < DECISIONS; i++) {
          answers.inFlight.acquire();
          RateLimitServiceGrpc.newStub(channels.get(i % CONNECTIONS))
              .shouldRateLimit(request(i), answers);
        }
        answers.ended.await();
      } finally {
        channels.forEach(ManagedChannel::shutdownNow);
      }
      assertThat(answers.notAdmitted).isEmpty();
      assertThat(service.log()).contains("warmed up the path to the store with");
    }
  }

  private static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  private static RateLimitRequest request(int number) {
    return RateLimitRequest.newBuilder()
        .setDomain("first")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(
                    RateLimitDescriptor.Entry.newBuilder()
                        .setKey("user")
                        .setValue("user-" + number % 100)))
        .build();
  }

  /** The answers other than OK, and when all have arrived. */
  private static final class Answers implements StreamObserver<RateLimitResponse> {
    final Queue<String> notAdmitted = new ConcurrentLinkedQueue<>();
    final Semaphore inFlight = new Semaphore(IN_FLIGHT);
    final CountDownLatch ended = new CountDownLatch(DECISIONS);

    @Override
    public void onNext(RateLimitResponse answer) {
      if (answer.getOverallCode() != Code.OK) {
        notAdmitted.add(answer.getOverallCode().name());
      }
    }

    @Override
    public void onError(Throwable failure) {
      notAdmitted.add(failure.toString());
      onCompleted();
    }

    @Override
    public void onCompleted() {
      ended.countDown();
      inFlight.release();
    }
  }
}
