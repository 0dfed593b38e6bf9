package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that hostile clients use bounded resources of a listener, and health is answered meanwhile.
 */
@Tag("slow")
class HostileClientsTest {
  private static final int PAGE = 2 << 20;
  private static final int HELD = 4 * PAGE;
  private static final int CONNECTIONS = 128;

  private final Queue<WeakReference<byte[]>> pages = new ConcurrentLinkedQueue<>();
  private final List<Socket> sockets = new ArrayList<>();
  private final HttpFixture http;

  HostileClientsTest() throws IOException {
    http = listener(Duration.ofSeconds(30));
  }

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    http.close();
  }

  @Test
  @SuppressWarnings("System.gc")
  void sixtySlowReadersHoldABoundedNumberOfPages() throws Exception {
    for (int i = 0; i < 60; i++) {
      request(http, "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    await().until(() -> pages.size() == 60);
    assertHealthy();
    await()
        .untilAsserted(() -> {
          System.gc();
          assertThat(pages.stream().filter(page -> page.get() != null).count())
              .isLessThanOrEqualTo(HELD / PAGE);
        });
    assertThat(http.get("/page").body()).hasSize(PAGE);
  }

  @Test
  void aClientThatStopsReadingIsDisconnected() throws Exception {
    try (HttpFixture hurried = listener(Duration.ofMillis(300))) {
      Socket socket = request(hurried, "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await().until(() -> pages.size() == 1);
      await().untilAsserted(() -> assertThat(hurried.listener.openConnections()).isZero());
      try (InputStream rest = socket.getInputStream()) {
        assertThat(rest.readAllBytes().length).isLessThan(PAGE);
      } catch (IOException reset) {
        assertThat(reset).hasMessageContaining("reset");
      }
    }
  }

  @Test
  void idleConnectionsAreClosedForNewOnes() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      sockets.add(new Socket(InetAddress.getLoopbackAddress(), http.port()));
    }
    assertHealthy();
    assertThat(sockets.getFirst().getInputStream().read()).isEqualTo(-1);
    assertThat(http.listener.openConnections()).isLessThanOrEqualTo(CONNECTIONS);
  }

  @Test
  void aLongBodyIsRejectedUnread() throws Exception {
    Socket socket =
        request(http, "POST /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n");
    assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 413 Request Entity Too Large");
    assertHealthy();
  }

  @Test
  void floodsOfHeadersAndLongLinesAreRejected() throws Exception {
    String headers =
        String.join(
            "", IntStream.range(0, 1_000).mapToObj(i -> "X-Flood-" + i + ": y\r\n").toList());
    assertThat(statusLine(request(http, "GET /page HTTP/1.1\r\n" + headers + "\r\n")))
        .startsWith("HTTP/1.1 431 ");
    assertThat(statusLine(request(http, "GET /" + "a".repeat(5_000) + " HTTP/1.1\r\n\r\n")))
        .startsWith("HTTP/1.1 414 ");
    assertHealthy();
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws Exception {
    String one = "GET /healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n";
    String end = "GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    Socket socket = request(http, one.repeat(100) + end);
    String answers = new String(socket.getInputStream().readAllBytes(), UTF_8);
    assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSize(101);
    assertThat(answers).endsWith("404 page not found\n");
  }

  @Test
  void aFloodOfPipelinedRequestsIsDisconnected() throws Exception {
    int requests = 5_000;
    Socket socket = request(http, "");
    try {
      socket
          .getOutputStream()
          .write(
              "GET /healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  .repeat(requests)
                  .getBytes(UTF_8));
    } catch (IOException closed) {
      assertThat(closed).hasMessageMatching("(?i).*(reset|broken pipe).*");
    }
    String answers = untilEnd(socket);
    assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSizeLessThan(requests);
    await().until(() -> http.listener.openConnections() == 0);
    assertHealthy();
  }

  @Test
  void aRequestThatArrivesByteByByteIsAnswered() throws Exception {
    Socket socket = request(http, "");
    socket.setTcpNoDelay(true);
    await().until(() -> http.listener.openConnections() == 1);
    String text = "POST /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
    for (byte each : text.getBytes(UTF_8)) {
      socket.getOutputStream().write(each);
      socket.getOutputStream().flush();
      assertThat(http.listener.openConnections()).isEqualTo(1); // runs on the loop, after the close
    }
    assertThat(statusLine(socket)).isEqualTo("HTTP/1.1 200 OK");
  }

  private HttpFixture listener(Duration response) throws IOException {
    HttpBounds bounds =
        new HttpBounds(
            CONNECTIONS, 1_000, HELD, 64, Duration.ofSeconds(20), Duration.ofSeconds(20), response);
    Route health =
        new Route() {
          @Override
          public Reply answer(HttpQuery query) {
            return Reply.text(200, "OK");
          }

          @Override
          public boolean immediate() {
            return true;
          }
        };
    Map<String, Route> routes = Map.of("/page", this::page, "/healthcheck", health);
    return new HttpFixture(new HttpListener("127.0.0.1", 0, bounds, TimeSource.system(), routes));
  }

  private Reply page(HttpQuery query) {
    try {
      int _ = query.body().length;
    } catch (BodyTooLongException tooLong) {
      return Reply.text(413, "");
    } catch (MalformedBodyException malformed) {
      return Reply.text(400, "");
    }
    byte[] page = "x".repeat(PAGE).getBytes(UTF_8);
    pages.add(new WeakReference<>(page));
    return new Reply(200, Reply.TEXT, page);
  }

  private void assertHealthy() throws Exception {
    assertThat(http.get("/healthcheck").body()).isEqualTo("OK");
  }

  private Socket request(HttpFixture to, String text) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    socket.setReceiveBufferSize(4_096);
    socket.connect(to.listener.address());
    socket.getOutputStream().write(text.getBytes(UTF_8));
    return socket;
  }

  /** Returns the bytes received until the connection is closed or reset. */
  private static String untilEnd(Socket socket) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] some = new byte[4_096];
    try {
      for (int n = socket.getInputStream().read(some); n > 0; ) {
        all.write(some, 0, n);
        n = socket.getInputStream().read(some);
      }
    } catch (SocketException reset) {
      assertThat(reset).hasMessageContaining("reset");
    }
    return all.toString(UTF_8);
  }

  private static String statusLine(Socket socket) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = socket.getInputStream().read(); c > '\r'; c = socket.getInputStream().read()) {
      line.append((char) c);
    }
    return line.toString();
  }
}
