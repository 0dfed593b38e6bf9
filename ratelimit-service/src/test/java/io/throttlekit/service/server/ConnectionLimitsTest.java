package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.GrpcConfig.ConnectionAge;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.RawConnection.Frame;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.ServerMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the limits of connections, of their idle time and of their resets. */
class ConnectionLimitsTest {
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final Duration NEVER = Duration.ZERO;

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private @Nullable GrpcServer server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
    telemetry.close();
  }

  @Test
  void theNewestConnectionBeyondTheMaximumIsClosedAndCounted() throws Exception {
    GrpcServer listening = listening(NEVER, 2, 1_000);
    try (RawConnection first = new RawConnection(listening);
        RawConnection second = new RawConnection(listening)) {
      answersPing(first);
      answersPing(second);
      try (Socket third = new Socket(InetAddress.getLoopbackAddress(), listening.port())) {
        assertThat(isClosed(third)).isTrue();
      }
      answersPing(first);
      answersPing(second);
      assertThat(shown("throttlekit_grpc_connections")).isEqualTo(2);
      assertThat(shown("throttlekit_grpc_refused_connections_total")).isEqualTo(1);
    }
  }

  @Test
  void anEndedConnectionMakesRoomForAnother() throws Exception {
    GrpcServer listening = listening(NEVER, 1, 1_000);
    for (int i = 0; i < 3; i++) {
      try (RawConnection only = new RawConnection(listening)) {
        answersPing(only);
      }
      while (shown("throttlekit_grpc_connections") > 0) {
        Thread.onSpinWait();
      }
    }
    assertThat(shown("throttlekit_grpc_refused_connections_total")).isZero();
  }

  @Test
  void onlyAConnectionWithoutCallsGetsGoaway() throws Exception {
    // A call begins long before the time has passed, on a busy machine too.
    GrpcServer listening = listening(Duration.ofSeconds(3), 10, 1_000);
    try (RawConnection used = new RawConnection(listening);
        RawConnection idle = new RawConnection(listening)) {
      used.beginCall();
      idle.await(frame -> frame.type() == RawConnection.GOAWAY);
      answersPing(used);
    }
  }

  @Test
  void aClientThatResetsTooManyCallsIsDisconnected() throws Exception {
    try (RawConnection hasty = new RawConnection(listening(NEVER, 10, 20))) {
      for (int i = 0; i < 100; i++) {
        try {
          hasty.beginCall(2 * i + 1, Map.of());
          hasty.reset(2 * i + 1);
        } catch (IOException disconnected) {
          break;
        }
      }
      assertThat(hasty.await(frame -> frame.type() == RawConnection.GOAWAY).error())
          .isEqualTo(ENHANCE_YOUR_CALM);
      hasty.awaitEnd();
    }
  }

  @Test
  void tooLongHeadersEndOnlyTheirCall() throws Exception {
    try (RawConnection verbose = new RawConnection(listening(NEVER, 10, 20))) {
      verbose.beginCall(1, Map.of("x-long", "x".repeat(9_000)));
      verbose.await(Frame::endsCall);
      answersPing(verbose);
    }
  }

  /** Returns whether the connection was closed, with or without a reset. */
  private static boolean isClosed(Socket socket) throws IOException {
    socket.setSoTimeout(300_000);
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketException reset) {
      return true;
    }
  }

  private static void answersPing(RawConnection connection) throws IOException {
    connection.ping();
    connection.await(Frame::isAnswerToPing);
  }

  private GrpcServer listening(Duration idle, int connections, int resets) {
    GrpcConfig d = Setup.loopback();
    GrpcServer started =
        new Setup(Book.X, Setup.NATIVE, Setup.BARE)
            .serve(
                new GrpcConfig(
                    d.host(),
                    0,
                    null,
                    null,
                    new ConnectionAge(NEVER, NEVER, idle),
                    new GrpcConfig.KeepAlive(
                        Duration.ofHours(1), Duration.ofHours(1), Duration.ofNanos(1)),
                    new GrpcConfig.Limits(
                        1_000, 10, 1_000, 8 << 10, 100, connections, resets, 1_000),
                    1,
                    d.drain(),
                    false));
    var _ = new ServerMetrics(telemetry.meter(), "throttlekit_grpc_", started);
    server = started;
    return started;
  }

  private double shown(String series) throws IOException {
    Scrape scrape = Objects.requireNonNull(telemetry.scrape());
    return scrape
        .page(null)
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .sum();
  }
}
