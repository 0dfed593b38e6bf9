package io.throttlekit.service.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers HTTP/1.1 on one address, each request on a virtual thread of its own.
 *
 * <p>A request that takes longer than {@value #REQUEST_SECONDS} s to arrive, or its answer longer
 * than {@value #RESPONSE_SECONDS} s to leave, loses its connection. Whatever a route throws is a
 * 500. Paths are matched whole. Thread-safe.
 */
public final class HttpListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);

  static final int REQUEST_SECONDS = 5;
  static final int RESPONSE_SECONDS = 30;
  private static final int MAX_CONNECTIONS = 1024;
  private static final int STOP_SECONDS = 1;

  private final Map<String, Route> routes;
  private final HttpServer server;
  private final ExecutorService threads;

  /**
   * Binds the address; nothing is answered before {@link #start}.
   *
   * @param port 0 for any that is free
   * @throws IOException when the address cannot be bound
   */
  HttpListener(String host, int port, Map<String, Route> routes) throws IOException {
    boundConnections();
    this.routes = Map.copyOf(routes);
    this.server = HttpServer.create(new InetSocketAddress(host, port), 0);
    this.threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/", this::handle);
  }

  /** Begins to answer. */
  public void start() {
    server.start();
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  /** Stops to listen, gives the answers under way at most a second, and closes every connection. */
  @Override
  public void close() {
    server.stop(STOP_SECONDS);
    threads.shutdownNow();
  }

  /** The JDK's server takes its bounds from here alone, once, when the first one is created. */
  private static void boundConnections() {
    setUnlessSet("sun.net.httpserver.maxReqTime", Integer.toString(REQUEST_SECONDS));
    setUnlessSet("sun.net.httpserver.maxRspTime", Integer.toString(RESPONSE_SECONDS));
    setUnlessSet("jdk.httpserver.maxConnections", Integer.toString(MAX_CONNECTIONS));
    setUnlessSet("sun.net.httpserver.nodelay", "true");
  }

  private static void setUnlessSet(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  private void handle(HttpExchange request) {
    try (request) {
      sendOrLose(request, answer(request));
    } catch (IOException gone) {
      LOG.debug("a client left before its answer", gone);
    }
  }

  private Reply answer(HttpExchange request) {
    Route route = routes.get(request.getRequestURI().getPath());
    if (route == null) {
      return Reply.text(404, "404 page not found\n");
    }
    try {
      return route.answer(request);
    } catch (Throwable unexpected) {
      LOG.error("{} failed", request.getRequestURI().getPath(), unexpected);
      return Reply.text(500, "Internal Server Error\n");
    }
  }

  private static void sendOrLose(HttpExchange request, Reply reply) throws IOException {
    boolean told = false;
    try {
      told = send(request, reply);
    } finally {
      if (!told) {
        reply.lost().run();
      }
    }
  }

  /** Whether the caller was told: who asks by HEAD is not, where there is something to tell. */
  private static boolean send(HttpExchange request, Reply reply) throws IOException {
    if (!reply.contentType().isEmpty()) {
      request.getResponseHeaders().set("Content-Type", reply.contentType());
    }
    byte[] bytes = reply.body().getBytes(StandardCharsets.UTF_8);
    boolean empty = bytes.length == 0;
    boolean unwanted = !empty && request.getRequestMethod().equals("HEAD");
    request.sendResponseHeaders(reply.status(), empty || unwanted ? -1 : bytes.length);
    if (!empty && !unwanted) {
      try (OutputStream body = request.getResponseBody()) {
        body.write(bytes);
      }
    }
    return !unwanted;
  }
}
