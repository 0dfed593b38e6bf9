package io.throttlekit.demo;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Sends the requests to the service that Envoy would send. */
final class GrpcSender implements RequestSender {
  private final ManagedChannel channel;

  GrpcSender(int port) {
    this.channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  @Override
  public String through() {
    return "grpc";
  }

  @Override
  public void send(DemoRequest request, Consumer<Answer> answered) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    List<String> entries = request.descriptor();
    for (int i = 0; i < entries.size(); i += 2) {
      descriptor.addEntriesBuilder().setKey(entries.get(i)).setValue(entries.get(i + 1));
    }
    RateLimitServiceGrpc.newStub(channel)
        .withDeadlineAfter(30, TimeUnit.SECONDS)
        .shouldRateLimit(
            RateLimitRequest.newBuilder().setDomain("demo").addDescriptors(descriptor).build(),
            new Receiver(answered));
  }

  private record Receiver(Consumer<Answer> answered) implements StreamObserver<RateLimitResponse> {

    @Override
    public void onNext(RateLimitResponse response) {
      answered.accept(
          response.getOverallCode() == Code.OVER_LIMIT ? Answer.LIMITED : Answer.ALLOWED);
    }

    @Override
    public void onError(Throwable cause) {
      answered.accept(Answer.FAILED);
    }

    @Override
    public void onCompleted() {}
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
