package io.throttlekit.service.server;

import static io.throttlekit.service.server.RawConnection.ACK;
import static io.throttlekit.service.server.RawConnection.GOAWAY;
import static io.throttlekit.service.server.RawConnection.PING;
import static io.throttlekit.service.server.RawConnection.SETTINGS;
import static io.throttlekit.service.server.RawConnection.WINDOW_UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.GrpcConfig.ConnectionAge;
import io.throttlekit.service.config.GrpcConfig.KeepAlive;
import io.throttlekit.service.server.RawConnection.Frame;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the configured bounds of a connection from the client's end. */
@Tag("slow")
class ConnectionBoundsTest {
  private static final int NO_ERROR = 0;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int MAX_CONCURRENT_STREAMS = 3;
  private static final int INITIAL_WINDOW_SIZE = 4;

  /** The initial window of a connection (RFC 9113 §6.9.2). */
  private static final int DEFAULT_WINDOW = 65_535;

  private static final Duration NEVER = Duration.ofHours(1);
  private static final KeepAlive RELAXED = new KeepAlive(NEVER, NEVER, NEVER);

  private @Nullable GrpcServer server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
  }

  /** One second is gRPC's minimum for the age of a connection. */
  @Test
  void anOldConnectionGetsGoawayAndIsClosedAfterTheGrace() throws Exception {
    ConnectionAge age =
        new ConnectionAge(Duration.ofSeconds(1), Duration.ofMillis(50), Duration.ZERO);
    try (RawConnection connection = connect(age, RELAXED, 10)) {
      connection.beginCall();
      assertThat(connection.await(frame -> frame.type() == GOAWAY).error()).isEqualTo(NO_ERROR);
      connection.answer(connection.await(Frame::isPing));
      assertThat(connection.await(frame -> frame.type() == GOAWAY).error()).isEqualTo(NO_ERROR);
      connection.awaitEnd();
    }
  }

  @Test
  void clientsReceiveTheMaximumOfCallsInProgress() throws Exception {
    try (RawConnection connection = connect(ConnectionAge.unlimited(), RELAXED, 7)) {
      Frame settings =
          connection.await(frame -> frame.type() == SETTINGS && (frame.flags() & ACK) == 0);
      assertThat(pairs(settings.payload())).contains(List.of(MAX_CONCURRENT_STREAMS, 7));
    }
  }

  @Test
  void unreadBytesOfAClientAreBounded() throws Exception {
    try (RawConnection connection = connect(ConnectionAge.unlimited(), RELAXED, 7)) {
      Frame settings =
          connection.await(frame -> frame.type() == SETTINGS && (frame.flags() & ACK) == 0);
      assertThat(pairs(settings.payload())).contains(List.of(INITIAL_WINDOW_SIZE, 256 << 10));
      Frame ofAllCalls = connection.await(frame -> frame.type() == WINDOW_UPDATE);
      assertThat(DEFAULT_WINDOW + ofAllCalls.increment()).isEqualTo(256 << 10);
      connection.beginCall();
      connection.beginMessage();
      connection.ping();
      Frame ping = connection.await(frame -> frame.type() == PING);
      assertThat(ping.isAnswerToPing())
          .as("it does not measure the round trip to enlarge the window")
          .isTrue();
    }
  }

  @Test
  void aClientThatPingsTooOftenIsDisconnected() throws Exception {
    try (RawConnection connection = connect(ConnectionAge.unlimited(), RELAXED, 10)) {
      connection.pings(5);
      assertThat(connection.await(frame -> frame.type() == GOAWAY).error())
          .isEqualTo(ENHANCE_YOUR_CALM);
      connection.awaitEnd();
    }
  }

  @Test
  void aClientWithinThePingLimitIsAnswered() throws Exception {
    KeepAlive permissive = new KeepAlive(NEVER, NEVER, Duration.ofNanos(1));
    try (RawConnection connection = connect(ConnectionAge.unlimited(), permissive, 10)) {
      for (int i = 0; i < 20; i++) {
        connection.ping();
        connection.await(Frame::isAnswerToPing); // fails if the connection ends
      }
    }
  }

  /** Ten seconds is gRPC's minimum for the idle time before a ping. */
  @Test
  void anIdleConnectionIsPingedAndClosedIfItDoesNotAnswer() throws Exception {
    KeepAlive attentive = new KeepAlive(Duration.ofSeconds(10), Duration.ofMillis(300), NEVER);
    try (RawConnection connection = connect(ConnectionAge.unlimited(), attentive, 10)) {
      connection.await(Frame::isPing);
      connection.awaitEnd();
    }
  }

  private RawConnection connect(ConnectionAge age, KeepAlive keepAlive, int calls)
      throws Exception {
    GrpcConfig d = Setup.loopback();
    GrpcServer listening =
        new Setup(Book.X, Setup.NATIVE, Setup.BARE)
            .serve(
                new GrpcConfig(
                    d.host(),
                    0,
                    null,
                    null,
                    age,
                    keepAlive,
                    new GrpcConfig.Limits(1_000, 10, 1_000, calls),
                    1,
                    d.drain(),
                    false));
    server = listening;
    return new RawConnection(listening);
  }

  private static List<List<Integer>> pairs(ByteBuffer settings) {
    List<List<Integer>> pairs = new ArrayList<>();
    while (settings.hasRemaining()) {
      pairs.add(List.of((int) settings.getShort(), settings.getInt()));
    }
    return pairs;
  }
}
