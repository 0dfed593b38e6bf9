package io.throttlekit.service.server;

import io.grpc.ServerCredentials;
import io.grpc.netty.GrpcHttp2ConnectionHandler;
import io.grpc.netty.InternalNettyServerCredentials;
import io.grpc.netty.InternalProtocolNegotiator.ProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.util.AsciiString;
import io.throttlekit.service.loop.FrameBounds;
import org.jspecify.annotations.Nullable;

/**
 * Applies bounds to the HTTP/2 handler of each connection: grpc-java creates that, and passes it to
 * no one else.
 *
 * @param next plaintext or TLS
 */
record BoundedNegotiator(ProtocolNegotiator next, FrameBounds bounds)
    implements ProtocolNegotiator {

  /**
   * Returns credentials of a server.
   *
   * @param tls null for plaintext
   */
  static ServerCredentials credentials(@Nullable SslContext tls, FrameBounds bounds) {
    ProtocolNegotiator next =
        tls == null
            ? InternalProtocolNegotiators.serverPlaintext()
            : InternalProtocolNegotiators.serverTls(tls);
    return InternalNettyServerCredentials.create(new BoundedNegotiator(next, bounds));
  }

  @Override
  public AsciiString scheme() {
    return next.scheme();
  }

  @Override
  public ChannelHandler newHandler(GrpcHttp2ConnectionHandler connection) {
    bounds.applyTo(connection);
    return next.newHandler(connection);
  }

  @Override
  public void close() {
    next.close();
  }
}
