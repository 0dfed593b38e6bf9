package io.throttlekit.service.server;

import io.grpc.ManagedChannel;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Path;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Creates clients of a server under test. */
final class Channels {

  private Channels() {}

  /**
   * Returns a client without TLS. Its buffers are not pooled: client and server would wait for each
   * other at the locks of the pool, as they do not in separate processes.
   */
  static ManagedChannel to(GrpcServer server) {
    return NettyChannelBuilder.forAddress("127.0.0.1", server.port())
        .withOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT)
        .usePlaintext()
        .build();
  }

  /**
   * Returns a client that trusts {@code authority}.
   *
   * @param identity the client's own certificate; null for none
   */
  static ManagedChannel tls(GrpcServer server, X509Bundle authority, @Nullable X509Bundle identity)
      throws SSLException {
    SslContextBuilder context =
        GrpcSslContexts.forClient().trustManager(authority.getCertificate());
    if (identity != null) {
      context.keyManager(identity.getKeyPair().getPrivate(), identity.getCertificatePath());
    }
    return NettyChannelBuilder.forAddress("127.0.0.1", server.port())
        .sslContext(context.build())
        .overrideAuthority("ratelimit.test")
        .build();
  }

  static ManagedChannel unix(Path socket, EventLoopGroup eventLoops) {
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
        .channelType(EpollDomainSocketChannel.class)
        .eventLoopGroup(eventLoops)
        .overrideAuthority("localhost")
        .usePlaintext()
        .build();
  }

  static EventLoopGroup epoll() {
    return new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  }
}
