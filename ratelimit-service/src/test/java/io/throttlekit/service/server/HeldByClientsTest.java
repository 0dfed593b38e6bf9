package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.RawConnection.Frame;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.ServerMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the bound of memory that clients hold by incomplete requests or unread answers. */
class HeldByClientsTest {
  private static final Duration NEVER = Duration.ofHours(1);
  private static final int MANY = 10_000;

  /** 16 MiB are allowed; a partly received request counts at least 64 KiB. */
  private static final int INCOMPLETE = 300;

  /** Clients that send 48 KiB of headers each. */
  private static final int ENDLESS_HEADERS = 400;

  /** An answer that was not sent counts at least 8 KiB. */
  private static final int UNREAD = 2_200;

  private static final int AT_ONCE = 200;

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private @Nullable GrpcServer server;

  @BeforeEach
  void start() {
    GrpcConfig d = Setup.loopback();
    GrpcServer started =
        setup.serve(
            new GrpcConfig(
                d.host(),
                0,
                null,
                null,
                d.connectionAge(),
                new GrpcConfig.KeepAlive(NEVER, NEVER, Duration.ofNanos(1)),
                new GrpcConfig.Limits(256 << 10, 10, 1_000, MANY),
                1,
                d.drain(),
                false));
    var _ = new ServerMetrics(telemetry.meter(), "throttlekit_grpc_", started);
    server = started;
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
    telemetry.close();
  }

  @Test
  void onlyAClientWithIncompleteRequestsIsDisconnected() throws Exception {
    try (RawConnection hostile = connect();
        RawConnection slow = connect()) {
      slow.beginCall();
      slow.beginMessage();
      answersPing(slow);
      send(
          hostile,
          INCOMPLETE,
          (connection, stream) -> {
            connection.beginCall(stream, Map.of());
            connection.beginMessage(stream);
          });
      hostile.awaitEnd();
      answersPing(slow);
      assertThat(closed()).isEqualTo(1);
    }
  }

  @Test
  void clientsThatDoNotEndTheirHeadersAreDisconnected() throws Exception {
    List<RawConnection> hostile = new ArrayList<>();
    try (RawConnection other = connect()) {
      for (int i = 0; i < ENDLESS_HEADERS; i++) {
        RawConnection connection = connect();
        hostile.add(connection);
        answersPing(connection);
        connection.beginHeaders(3);
      }
      await().until(() -> closed() > 0);
      answersPing(other);
    } finally {
      for (RawConnection connection : hostile) {
        connection.close();
      }
    }
  }

  @Test
  void aClientThatReadsNoAnswersIsDisconnected() throws Exception {
    byte[] request = TestRequests.to("d", TestRequests.entries("x", "y")).toByteArray();
    try (RawConnection hostile = connect()) {
      hostile.readNoAnswers();
      send(
          hostile,
          UNREAD,
          (connection, stream) -> {
            connection.beginCall(stream, Map.of());
            connection.ask(stream, request);
          });
      hostile.awaitEnd();
      assertThat(closed()).isEqualTo(1);
    }
  }

  @Test
  void aClientThatReadsItsAnswersStaysConnected() throws Exception {
    // No rule: all the answers fit in the flow-control window, which this client never widens.
    byte[] request = TestRequests.x(TestRequests.entries("nothing", "y")).toByteArray();
    try (RawConnection busy = connect()) {
      for (int batch = 0; batch < 2 * UNREAD / AT_ONCE; batch++) {
        for (int i = 0; i < AT_ONCE; i++) {
          int stream = 2 * (batch * AT_ONCE + i) + 1;
          busy.beginCall(stream, Map.of());
          busy.ask(stream, request);
        }
        for (int i = 0; i < AT_ONCE; i++) {
          busy.await(Frame::endsCall);
        }
      }
      assertThat(closed()).isZero();
    }
  }

  /** An action on each stream of a connection. */
  private interface OnStream {
    void send(RawConnection connection, int stream) throws IOException;
  }

  private static void send(RawConnection connection, int calls, OnStream each) throws IOException {
    try {
      for (int i = 0; i < calls; i++) {
        each.send(connection, 2 * i + 1);
      }
    } catch (SocketException closed) {
      return; // before all were sent
    }
  }

  private RawConnection connect() throws IOException {
    return new RawConnection(Objects.requireNonNull(server));
  }

  private static void answersPing(RawConnection connection) throws IOException {
    connection.ping();
    connection.await(Frame::isAnswerToPing);
  }

  private double closed() throws IOException {
    String series = "throttlekit_grpc_closed_connections_total{reason=\"memory\"} ";
    Scrape scrape = Objects.requireNonNull(telemetry.scrape());
    return scrape
        .page(null)
        .body()
        .lines()
        .filter(line -> line.startsWith(series))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length())))
        .sum();
  }
}
