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
 * The connections that a listener has accepted, so that those can be ended whose clients are not
 * trusted any more. Thread-safe.
 *
 * <p>A listening channel reads accepted connections as its messages, which pass here before they
 * are served.
 */
@Sharable
final class OpenConnections extends ChannelInboundHandlerAdapter {
  private final Set<Channel> open = ConcurrentHashMap.newKeySet();

  /** Makes listening channels of {@code plain} whose connections are known here. */
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
   * Closes connections whose clients showed a certificate chain that is not trusted any more.
   *
   * @return how many
   */
  int closeUnless(Predicate<X509Certificate[]> trusted) {
    int closed = 0;
    for (Channel connection : open) {
      SslHandler tls = connection.pipeline().get(SslHandler.class);
      if (tls != null && !trusts(trusted, tls)) {
        // From the transport's end: HTTP/2 would wait for open calls, which may last for ever.
        var _ = connection.pipeline().firstContext().close();
        closed++;
      }
    }
    return closed;
  }

  /** A handshake that goes on will be judged by the trust of now. */
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
