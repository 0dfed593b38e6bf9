package io.throttlekit.service.envoy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A backend with as many servers as requests, which takes the same time for each: an empty answer,
 * a large one for {@code /large}, and never one for {@code /hang}.
 */
final class DelayingUpstream implements AutoCloseable {
  private final HttpServer server;
  private final Duration delay;
  private final byte[] large;
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private DelayingUpstream(HttpServer server, Duration delay, byte[] large) {
    this.server = server;
    this.delay = delay;
    this.large = large;
  }

  static DelayingUpstream start(Duration delay, int largeBytes) throws IOException {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    HttpServer server = HttpServer.create(anyPort, 1_024);
    var upstream = new DelayingUpstream(server, delay, new byte[largeBytes]);
    server.createContext("/", upstream::take);
    server.setExecutor(upstream.threads);
    server.start();
    return upstream;
  }

  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    timer.shutdownNow();
    server.stop(0);
    threads.shutdownNow();
  }

  private void take(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String path = exchange.getRequestURI().getPath();
    if (path.startsWith("/hang")) {
      return;
    }
    byte[] body = path.startsWith("/large") ? large : new byte[0];
    var _ =
        timer.schedule(
            () -> threads.execute(() -> answer(exchange, body)),
            delay.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  private static void answer(HttpExchange exchange, byte[] body) {
    try (exchange) {
      exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
      if (body.length > 0) {
        try (OutputStream out = exchange.getResponseBody()) {
          out.write(body);
        }
      }
    } catch (IOException e) { // Envoy has closed the connection of a request that timed out
      exchange.close();
    }
  }
}
