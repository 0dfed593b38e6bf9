package io.throttlekit.bench.load;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.testkit.net.EventLoops;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Open gRPC connections to one server. Listeners are called on event loops. */
public final class Connections implements AutoCloseable {
  private static final int EVENT_LOOPS = 2; // enough to saturate a server on the same machine
  private static final int CONNECT_SECONDS = 10;
  private static final MethodDescriptor<byte[], byte[]> SHOULD_RATE_LIMIT =
      RateLimitServiceGrpc.getShouldRateLimitMethod().toBuilder(
              RawBytes.INSTANCE, RawBytes.INSTANCE)
          .build();

  private final EventLoopGroup loops = EventLoops.of(EVENT_LOOPS);
  private final List<ManagedChannel> channels;

  /**
   * @param count number of connections, from 1
   */
  public Connections(LoopbackTarget target, int count) {
    channels = Stream.generate(() -> connect(target)).limit(count).toList();
  }

  private ManagedChannel connect(LoopbackTarget target) {
    return NettyChannelBuilder.forAddress(target.address())
        .channelType(EventLoops.clientChannel())
        .eventLoopGroup(loops)
        .directExecutor()
        .disableRetry()
        .usePlaintext()
        .build();
  }

  /** Connects them all. A request sent earlier connects by itself, and waits for it. */
  public void awaitReady() throws InterruptedException {
    for (ManagedChannel channel : channels) {
      ConnectivityState state = channel.getState(true);
      while (state != ConnectivityState.READY) {
        CountDownLatch changed = new CountDownLatch(1);
        channel.notifyWhenStateChanged(state, changed::countDown);
        if (!changed.await(CONNECT_SECONDS, TimeUnit.SECONDS)) {
          throw new IllegalStateException("not connected within " + CONNECT_SECONDS + " s");
        }
        state = channel.getState(true);
      }
    }
  }

  public int count() {
    return channels.size();
  }

  public ManagedChannel channel(int connection) {
    return channels.get(connection);
  }

  /** Sends one request over the given connection (modulo their number). */
  public void send(long connection, byte[] request, ClientCall.Listener<byte[]> listener) {
    ManagedChannel channel = channels.get((int) (connection % channels.size()));
    ClientCall<byte[], byte[]> call = channel.newCall(SHOULD_RATE_LIMIT, CallOptions.DEFAULT);
    call.start(listener, new Metadata());
    call.request(2); // the reply and the end of the call
    call.sendMessage(request);
    call.halfClose();
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
