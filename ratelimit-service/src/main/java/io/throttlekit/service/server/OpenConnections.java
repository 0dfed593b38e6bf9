package io.throttlekit.service.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * Tracks the connections that a listener has accepted, to close those whose client certificates are
 * no longer trusted. Thread-safe.
 *
 * <p>A listening channel reads accepted connections as its messages, which pass through this
 * handler before they are served.
 */
@Sharable
final class OpenConnections extends ChannelInboundHandlerAdapter {
  private final Set<Channel> open = ConcurrentHashMap.newKeySet();

  /** Returns a factory of {@code plain}'s listening channels whose connections are tracked here. */
  ChannelFactory<ServerChannel> listening(ChannelFactory<? extends ServerChannel> plain) {
    return () -> {
      ServerChannel listener = plain.newChannel();
      listener.pipeline().addFirst(this);
      return listener;
    };
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof Channel accepted) {
      open.add(accepted);
      accepted.closeFuture().addListener(_ -> open.remove(accepted));
    }
    context.fireChannelRead(message);
  }

  /**
   * Closes connections whose clients presented a certificate chain that is no longer trusted.
   *
   * @return the number of closed connections
   */
  int closeUnless(Predicate<X509Certificate[]> trusted) {
    int closed = 0;
    for (Channel connection : open) {
      SslHandler tls = connection.pipeline().get(SslHandler.class);
      if (tls != null && !trusts(trusted, tls)) {
        // From the head of the pipeline: a close through HTTP/2 waits for open calls, without a
        // limit.
        var _ = connection.pipeline().firstContext().close();
        closed++;
      }
    }
    return closed;
  }

  /** Returns true during a handshake, which will be verified against the current trust anyway. */
  private static boolean trusts(Predicate<X509Certificate[]> trusted, SslHandler tls) {
    try {
      Certificate[] shown = tls.engine().getSession().getPeerCertificates();
      X509Certificate[] chain = new X509Certificate[shown.length];
      for (int i = 0; i < shown.length; i++) {
        chain[i] = (X509Certificate) shown[i];
      }
      return trusted.test(chain);
    } catch (SSLPeerUnverifiedException e) {
      return true;
    }
  }
}
