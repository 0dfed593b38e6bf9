package io.throttlekit.service.server;

import static io.throttlekit.service.server.RawConnection.CONTINUATION;
import static io.throttlekit.service.server.RawConnection.DATA;
import static io.throttlekit.service.server.RawConnection.GOAWAY;
import static io.throttlekit.service.server.RawConnection.PRIORITY;
import static io.throttlekit.service.server.RawConnection.RST_STREAM;
import static io.throttlekit.service.server.RawConnection.WINDOW_UPDATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.stub.StreamObserver;
import io.throttlekit.ManualTime;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.GrpcConfig.ConnectionAge;
import io.throttlekit.service.config.GrpcConfig.KeepAlive;
import io.throttlekit.service.loop.ClosedConnections;
import io.throttlekit.service.loop.FrameBounds;
import io.throttlekit.service.server.RawConnection.Frame;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the bounds of calls in progress and of frames that belong to no call. */
class FrameBoundsTest {
  private static final int REFUSED_STREAM = 7;
  private static final int ENHANCE_YOUR_CALM = 11;
  private static final int HEADERS = 64 << 10;
  private static final int CALLS = 7;
  private static final int FRAMES = 100;
  private static final int PER_CALL = 4;
  private static final Duration NEVER = Duration.ofHours(1);
  private static final byte[] REQUEST =
      TestRequests.x(TestRequests.entries("nothing", "y")).toByteArray();

  private final ManualTime time = new ManualTime(Setup.NOW);
  private @Nullable GrpcServer server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
  }

  /** As an Envoy that has not read SETTINGS: many calls with their messages, in one go. */
  @ParameterizedTest
  @CsvSource({"1", "1000", "3000"})
  void onlyRefusedCallsFailHoweverManyBeginBeforeSettingsAreRead(int refused) throws Exception {
    try (RawConnection envoy = connect(10); // the refusals are no resets
        Logged logged = Logged.by(FrameBounds.class)) {
      for (int i = 0; i < CALLS; i++) {
        envoy.beginCall(streamId(i), Map.of());
      }
      Set<Integer> expected = new TreeSet<>();
      for (int i = CALLS; i < CALLS + refused; i++) {
        envoy.beginCall(streamId(i), Map.of());
        envoy.ask(streamId(i), REQUEST);
        expected.add(streamId(i));
      }
      Set<Integer> seen = new TreeSet<>();
      while (seen.size() < refused) {
        Frame reset = envoy.await(frame -> frame.type() == RST_STREAM);
        if (seen.add(reset.stream())) { // another one follows for DATA that is sent a second later
          assertThat(reset.resetError()).isEqualTo(REFUSED_STREAM);
        }
      }
      assertThat(seen).isEqualTo(expected);
      assertServesPermittedCalls(envoy);
      int next = streamId(CALLS + refused);
      envoy.beginCall(next, Map.of());
      envoy.ask(next, REQUEST);
      assertThat(envoy.await(Frame::endsCall).stream()).as("room again").isEqualTo(next);
      assertThat(logged.lines())
          .containsExactly(
              "WARNING a call was refused because 7 were in progress on its connection, 1 so far");
    }
    assertThat(started().refusedCalls()).isEqualTo(refused);
    assertThat(closed()).isEmpty();
  }

  @Test
  void dataThatArrivesAfterTheRefusalEndsNothingElse() throws Exception {
    try (RawConnection envoy = connect(10_000)) {
      for (int i = 0; i <= CALLS; i++) {
        envoy.beginCall(streamId(i), Map.of());
      }
      assertThat(envoy.await(frame -> frame.type() == RST_STREAM).stream())
          .isEqualTo(streamId(CALLS));
      envoy.ask(streamId(CALLS), REQUEST);
      assertServesPermittedCalls(envoy);
    }
    assertThat(closed()).isEmpty();
  }

  @Test
  void aClientThatKnowsTheMaximumMayExceedItOnlyAFewTimes() throws Exception {
    try (RawConnection hostile = connect(10_000)) {
      hostile.acknowledgeSettings();
      for (int i = 0; i < CALLS; i++) {
        hostile.beginCall(streamId(i), Map.of());
      }
      try {
        for (int i = CALLS; i < 10 * FRAMES; i++) {
          hostile.beginCall(streamId(i), Map.of());
        }
      } catch (SocketException disconnected) {
        // expected
      }
      assertDisconnected(hostile, "frames");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "settings, 4, 0, 0, 0",
    "acknowledged settings, 4, 1, 0, 0",
    "answers to pings, 6, 1, 0, 8",
    "pings that are permitted, 6, 0, 0, 8",
    "priorities, 2, 0, 1, 5",
    "windows of the connection, 8, 0, 0, 4",
    "windows of a call, 8, 0, 1, 4",
    "empty data, 0, 0, 1, 0",
    "tiny data, 0, 0, 1, 1",
    "padded empty data, 0, 8, 1, 20",
    "unknown frames of the connection, 99, 0, 0, 3",
    "unknown frames of a call, 99, 0, 1, 3",
  })
  void aFloodOfFramesThatBelongToNoCallIsCut(
      String kind, int type, int flags, int stream, int length) throws Exception {
    byte[] payload = payload(type, flags, length);
    try (RawConnection client = connect(10_000)) {
      client.beginCall(); // permits some frames
      client.beginMessage();
      client.flood(FRAMES - 20, type, flags, stream, payload);
      answersPing(client);
      time.advance(1_000);
      client.flood(FRAMES - 20, type, flags, stream, payload);
      answersPing(client);
      try {
        client.flood(100 * FRAMES, type, flags, stream, payload);
      } catch (SocketException disconnected) {
        // while it was sending
      }
      assertDisconnected(client, "frames");
    }
  }

  /** Netty drops them without a callback. */
  @ParameterizedTest
  @CsvSource({"unknown frames, 99, 3", "windows, 8, 4", "resets, 3, 4"})
  void aFloodOfFramesOfEndedCallsIsCut(String kind, int type, int length) throws Exception {
    try (RawConnection hostile = connect(10_000)) {
      hostile.beginCall();
      hostile.ask(1, REQUEST);
      hostile.await(Frame::endsCall);
      answersPing(hostile); // the call has ended for the server, too
      byte[] payload = payload(type, 0, length);
      try {
        for (int i = 0; i < 100; i++) {
          hostile.flood(10_000, type, 0, 1, payload);
        }
      } catch (SocketException disconnected) {
        // expected
      }
      assertDisconnected(hostile, "frames");
    }
  }

  @Test
  void aClientThatUpdatesWindowsAtEachCallStaysConnected() throws Exception {
    try (RawConnection client = connect(10_000)) {
      byte[] one = payload(WINDOW_UPDATE, 0, 4);
      for (int i = 0; i < 5 * FRAMES; i++) {
        client.beginCall(streamId(i), Map.of());
        client.flood(PER_CALL / 2, WINDOW_UPDATE, 0, 0, one);
        client.flood(PER_CALL / 2, WINDOW_UPDATE, 0, streamId(i), one);
        client.ask(streamId(i), REQUEST);
        client.await(Frame::endsCall);
      }
    }
    assertThat(closed()).isEmpty();
  }

  /** A window update of 0 makes the server reset the call ("MadeYouReset"). */
  @Test
  void aClientWhoseErrorsEndCallsIsDisconnectedBelowTheBoundOfResets() throws Exception {
    try (RawConnection hostile = connect(10_000)) {
      try {
        for (int calls = 0; calls < FRAMES; calls++) {
          hostile.beginCall(streamId(calls), Map.of());
          hostile.flood(1, WINDOW_UPDATE, 0, streamId(calls), new byte[Integer.BYTES]);
        }
      } catch (SocketException disconnected) {
        // expected
      }
      assertDisconnected(hostile, "frames");
    }
  }

  /** Envoy's streams for sensors last, and each needs only a few messages. */
  @Test
  void onlyRefusedStreamsOfThePortForSensorsFail() throws Exception {
    GrpcServer sensors =
        GrpcServer.ofStreams(config(10), List.of(silentLogs().bindService()), 1_000);
    server = sensors;
    sensors.start();
    Map<String, String> path =
        Map.of(":path", "/" + AccessLogServiceGrpc.getStreamAccessLogsMethod().getFullMethodName());
    try (RawConnection envoy = new RawConnection(sensors)) {
      for (int i = 0; i < CALLS + 100; i++) {
        envoy.beginCall(streamId(i), path);
        envoy.beginMessage(streamId(i));
      }
      Set<Integer> refused = new TreeSet<>();
      while (refused.size() < 100) {
        Frame reset = envoy.await(frame -> frame.type() == RST_STREAM);
        assertThat(reset.resetError()).isEqualTo(REFUSED_STREAM);
        refused.add(reset.stream());
      }
      assertThat(refused).allMatch(stream -> stream >= streamId(CALLS));
      answersPing(envoy);
      envoy.reset(1);
      envoy.beginCall(streamId(CALLS + 100), path);
      answersPing(envoy);
    }
    assertThat(sensors.refusedCalls()).isEqualTo(100);
    assertThat(closed()).isEmpty();
  }

  private static AccessLogServiceGrpc.AccessLogServiceImplBase silentLogs() {
    return new AccessLogServiceGrpc.AccessLogServiceImplBase() {
      @Override
      public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
          StreamObserver<StreamAccessLogsResponse> answers) {
        return new StreamObserver<>() {
          @Override
          public void onNext(StreamAccessLogsMessage message) {}

          @Override
          public void onError(Throwable cause) {}

          @Override
          public void onCompleted() {}
        };
      }
    };
  }

  /** An Envoy that traces copies headers of its clients, which have 60 KiB together. */
  @Test
  void aCallIsDecidedHoweverLongTheHeadersAreThatEnvoyAccepts() throws Exception {
    try (RawConnection envoy = connect(10)) {
      envoy.beginCall(streamId(0), Map.of("tracestate", "t".repeat(60 << 10)));
      envoy.ask(streamId(0), REQUEST);
      Frame end = envoy.await(Frame::endsCall);
      assertThat(end.stream()).isEqualTo(streamId(0));
      assertThat(new String(end.payload().array(), StandardCharsets.ISO_8859_1))
          .contains("grpc-status");
    }
  }

  @Test
  void longerHeadersEndTheirCallAlone() throws Exception {
    try (RawConnection envoy = connect(10)) {
      envoy.beginCall(streamId(0), Map.of());
      envoy.beginCall(streamId(1), Map.of("tracestate", "t".repeat(70 << 10)));
      envoy.await(frame -> frame.stream() == streamId(1));
      envoy.ask(streamId(0), REQUEST);
      Frame end = envoy.await(frame -> frame.endsCall() && frame.stream() == streamId(0));
      assertThat(end.stream()).isEqualTo(streamId(0));
      assertThat(closed()).isEmpty();
    }
  }

  @Test
  void longHeadersAreNoBytesThatBelongToNoCall() throws Exception {
    try (RawConnection envoy = connect(10)) {
      for (int i = 0; i < 200; i++) { // 12 MB
        envoy.beginCall(streamId(i), Map.of("tracestate", "t".repeat(60 << 10)));
        envoy.ask(streamId(i), REQUEST);
        envoy.await(Frame::endsCall);
      }
      assertThat(closed()).isEmpty();
    }
  }

  @Test
  void aFloodOfContinuationsIsCut() throws Exception {
    try (RawConnection hostile = connect(10);
        Logged logged = Logged.by(ClosedConnections.class)) {
      hostile.beginHeaders();
      hostile.flood(100, CONTINUATION, 0, 1, new byte[0]);
      assertDisconnected(hostile, "frames");
      assertThat(logged.lines())
          .singleElement()
          .asString()
          .startsWith("WARNING a client that sent too many frames: Number of small");
    }
  }

  @Test
  void connectionsThatClientsEndAreNotCounted() throws Exception {
    try (RawConnection killed = connect(10)) {
      killed.beginCall();
      killed.beginMessage();
      answersPing(killed);
      killed.abort();
    }
    try (RawConnection ended = new RawConnection(started())) {
      ended.beginCall();
      answersPing(ended);
    }
    await().until(() -> started().openConnections() == 0);
    assertThat(closed()).isEmpty();
  }

  @Test
  void theReasonsOfDisconnectionsAreCountedAndLogged() throws Exception {
    try (Logged logged = Logged.by(ClosedConnections.class)) {
      try (RawConnection hasty = connect(3)) {
        for (int i = 0; i < 4; i++) {
          hasty.beginCall(streamId(i), Map.of());
          hasty.reset(streamId(i));
        }
        assertDisconnected(hasty, "resets");
      }
      try (RawConnection odd = new RawConnection(started())) {
        odd.flood(1, RST_STREAM, 0, 5, new byte[Integer.BYTES]); // of a call that never began
        odd.awaitEnd();
      }
      assertThat(closed()).isEqualTo(Map.of("resets", 1L, "protocol_error", 1L));
      assertThat(logged.lines())
          .containsExactly(
              "WARNING a client that had too many calls reset was disconnected, 1 so far");
    }
  }

  private void assertServesPermittedCalls(RawConnection client) throws IOException {
    Map<Integer, Frame> ends = new HashMap<>();
    for (int i = 0; i < CALLS; i++) {
      client.ask(streamId(i), REQUEST);
      Frame end = client.await(Frame::endsCall);
      ends.put(end.stream(), end);
    }
    assertThat(ends).hasSize(CALLS);
  }

  private void assertDisconnected(RawConnection client, String reason) throws IOException {
    if (!reason.equals("frames")) {
      client.awaitEnd();
    } else {
      try {
        assertThat(client.await(frame -> frame.type() == GOAWAY).error())
            .isEqualTo(ENHANCE_YOUR_CALM);
      } catch (SocketException reset) {
        // the client was still sending
      }
      client.awaitEnd();
    }
    assertThat(closed()).isEqualTo(Map.of(reason, 1L));
  }

  private static void answersPing(RawConnection connection) throws IOException {
    connection.ping();
    connection.await(Frame::isAnswerToPing);
  }

  private static byte[] payload(int type, int flags, int length) {
    byte[] payload = new byte[length];
    if (type == WINDOW_UPDATE) {
      payload[length - 1] = 1;
    }
    if (type == DATA && flags != 0) {
      payload[0] = (byte) (length - 1); // all of it is padding
    }
    if (type == PRIORITY) {
      payload[3] = 3; // depends on another stream
    }
    return payload;
  }

  private static int streamId(int call) {
    return 2 * call + 1;
  }

  private Map<String, Long> closed() {
    Map<String, Long> counts = new TreeMap<>();
    started()
        .closedConnections()
        .forEach((reason, count) -> {
          if (count > 0) {
            counts.put(reason, count);
          }
        });
    return counts;
  }

  private GrpcServer started() {
    return Objects.requireNonNull(server);
  }

  private static GrpcConfig config(int resets) {
    GrpcConfig d = Setup.loopback();
    return new GrpcConfig(
        d.host(),
        0,
        null,
        null,
        ConnectionAge.unlimited(),
        new KeepAlive(NEVER, NEVER, Duration.ofNanos(1)),
        new GrpcConfig.Limits(1_000, 10, 1_000, HEADERS, CALLS, 100, resets, FRAMES),
        1,
        d.drain(),
        false);
  }

  private RawConnection connect(int resets) throws IOException {
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    GrpcServer listening =
        new GrpcServer(
            config(resets),
            CallHandler.ofRateLimits(setup.frontEnd(), setup.metrics(), null, time),
            List.of(),
            setup.health,
            null,
            Duration.ofMillis(20));
    server = listening;
    listening.start();
    return new RawConnection(listening);
  }
}
