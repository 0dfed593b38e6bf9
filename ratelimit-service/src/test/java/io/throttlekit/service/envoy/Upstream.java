package io.throttlekit.service.envoy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What Envoy protects: answers every request with 700 bytes, and counts them; with 200 or the code
 * that the request asks for ({@code ?503}), one that asks to be held ({@code ?hold}) not before it
 * is let go, and only the first half of one that asks for a part ({@code ?part}) before that.
 */
final class Upstream implements AutoCloseable {
  private static final byte[] BODY = "0123456789".repeat(70).getBytes(StandardCharsets.US_ASCII);

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch releaseHeld = new CountDownLatch(1);
  private final AtomicInteger requests = new AtomicInteger();

  private Upstream(HttpServer server) {
    this.server = server;
  }

  static Upstream start() throws IOException {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    Upstream upstream = new Upstream(HttpServer.create(anyPort, 128));
    upstream.server.createContext("/", upstream::answer);
    upstream.server.setExecutor(upstream.threads);
    upstream.server.start();
    return upstream;
  }

  int port() {
    return server.getAddress().getPort();
  }

  int requests() {
    return requests.get();
  }

  /** Answers the held requests, and holds none from now on. */
  void letGo() {
    releaseHeld.countDown();
  }

  @Override
  public void close() {
    letGo();
    server.stop(0);
    threads.close();
  }

  private void answer(HttpExchange exchange) throws IOException {
    requests.incrementAndGet();
    String query = exchange.getRequestURI().getQuery();
    boolean held = "hold".equals(query);
    boolean part = "part".equals(query);
    if (held) {
      awaitLetGo();
    }
    int code = query == null || held || part ? 200 : Integer.parseInt(query);
    exchange.sendResponseHeaders(code, BODY.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(BODY, 0, BODY.length / 2);
      if (part) {
        body.flush();
        awaitLetGo();
      }
      body.write(BODY, BODY.length / 2, BODY.length - BODY.length / 2);
    }
  }

  private void awaitLetGo() throws IOException {
    try {
      releaseHeld.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
