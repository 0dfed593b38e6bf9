package io.throttlekit.bench;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceImplBase;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.bench.load.LoopbackTarget;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Answers no call before a number of calls have arrived; then answers all of them. */
final class StallingServer implements AutoCloseable {
  private final Server server;

  private StallingServer(int requests) throws IOException {
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Stalling(requests))
            .build()
            .start();
  }

  static StallingServer untilRequests(int requests) throws IOException {
    return new StallingServer(requests);
  }

  LoopbackTarget target() {
    return new LoopbackTarget(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()));
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private static final class Stalling extends RateLimitServiceImplBase {
    private final int requests;
    private final List<StreamObserver<RateLimitResponse>> waiting = new ArrayList<>();

    Stalling(int requests) {
      this.requests = requests;
    }

    @Override
    public synchronized void shouldRateLimit(
        RateLimitRequest request, StreamObserver<RateLimitResponse> reply) {
      waiting.add(reply);
      if (waiting.size() == requests) {
        waiting.forEach(Stalling::answer);
        waiting.clear();
      }
    }

    private static void answer(StreamObserver<RateLimitResponse> reply) {
      reply.onNext(RateLimitResponse.newBuilder().setOverallCode(Code.OK).build());
      reply.onCompleted();
    }
  }
}
