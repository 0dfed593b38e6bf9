package io.throttlekit.envoy.xds;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** An upstream that holds all requests until {@link #release}. */
final class HeldUpstream implements AutoCloseable {
  private final HttpServer server;
  private final BlockingQueue<HttpExchange> held = new LinkedBlockingQueue<>();

  private HeldUpstream(HttpServer server) {
    this.server = server;
  }

  static HeldUpstream start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    HeldUpstream upstream = new HeldUpstream(server);
    server.createContext("/", upstream.held::add); // the exchange stays open
    server.start();
    return upstream;
  }

  int port() {
    return server.getAddress().getPort();
  }

  int held() {
    return held.size();
  }

  /** Answers all held requests. */
  void release() throws IOException {
    for (HttpExchange exchange = held.poll(); exchange != null; exchange = held.poll()) {
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
