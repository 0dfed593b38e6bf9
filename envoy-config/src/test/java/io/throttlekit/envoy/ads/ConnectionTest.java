package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.net.TcpProxy;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a control plane may do to a connection. */
class ConnectionTest {
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final FakeControlPlane controlPlane = new FakeControlPlane();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void aResponseThatIsTooLongEndsTheStreamWithAReason() {
    controlPlane.react((_, stream) -> stream.send("1", "x".repeat(2_000)));
    Connected connected = connectedTo(serving().getPort());
    assertThat(connected.awaitConnection(1))
        .startsWith("RESOURCE_EXHAUSTED: the response is longer than is permitted here: ")
        .contains("1000");
    connected.time.pass(Duration.ofSeconds(3));
    connected.awaitConnection(2);
  }

  @Test
  void aResponseOfTooManyPartsIsNotRead() {
    DiscoveryResponse many =
        DiscoveryResponse.newBuilder()
            .setTypeUrl(FakeControlPlane.TYPE)
            .addAllResources(
                Collections.nCopies(ResponseMarshaller.MAX_PARTS + 1, Any.getDefaultInstance()))
            .build();
    controlPlane.react((_, stream) -> stream.send(many));
    Connected connected =
        opened(
            new Connected(
                serving().getPort(), null, ControlPlaneAddress.DEFAULT_KEEP_ALIVE, 1 << 20));
    assertThat(connected.awaitConnection(1)).contains("more than 100000 resources");
    connected.time.pass(Duration.ofSeconds(3));
    connected.awaitConnection(2);
  }

  @Test
  void bytesThatAreNoResponseEndTheStream() {
    Connected connected = connectedTo(opened(Connected.serve(noise(), null)).getPort());
    assertThat(connected.awaitConnection(1)).startsWith("CANCELLED: Failed to read message");
    connected.time.pass(Duration.ofSeconds(3));
    assertThat(connected.awaitConnection(2)).isEqualTo(Connected.CONNECTED);
  }

  @Test
  void aPeerThatAcceptsAndIsSilentIsGivenUp() throws IOException {
    try (ServerSocket silent = listening()) {
      Connected connected = connectedTo(silent.getLocalPort());
      silent.accept();
      await().until(() -> connected.time.tasks() > 0);
      connected.time.pass(Duration.ofSeconds(20));
      assertThat(connected.awaitConnection(0)).isEqualTo("no HTTP/2 connection within 20 s");
      connected.time.pass(Duration.ofSeconds(3));
      silent.accept(); // the next attempt
    }
  }

  /** Else the acknowledgements would fill the memory. */
  @ParameterizedTest
  @ValueSource(strings = {"0000080600000000000102030405060708", "000000040000000000"})
  void aPeerThatSendsPingsOrSettingsAndReadsNothingIsNotRead(String frame) throws IOException {
    ByteBuffer settings = ByteBuffer.wrap(HexFormat.of().parseHex("000000040000000000"));
    ByteBuffer frames = ByteBuffer.wrap(HexFormat.of().parseHex(frame.repeat(1_000)));
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.setOption(StandardSocketOptions.SO_RCVBUF, 4_096); // soon full
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      connectedTo(listening.socket().getLocalPort());
      try (SocketChannel peer = listening.accept()) {
        peer.write(settings);
        peer.configureBlocking(false);
        AtomicLong sent = new AtomicLong();
        AtomicInteger refused = new AtomicInteger(); // looks in a row at which nothing was accepted
        await()
            .pollInterval(Duration.ofMillis(20))
            .until(() -> {
              long more = write(peer, frames);
              assertThat(sent.addAndGet(more)).isLessThan(50_000_000); // TCP has some megabytes
              refused.set(more == 0 ? refused.get() + 1 : 0);
              return refused.get() == 10;
            });
      }
    }
  }

  /** Writes what is accepted now, and returns how much that was. */
  private static long write(SocketChannel peer, ByteBuffer repeated) throws IOException {
    long written = 0;
    for (int more = 1; more > 0 && written < 10_000_000; written += more) {
      if (!repeated.hasRemaining()) {
        repeated.rewind();
      }
      more = peer.write(repeated);
    }
    return written;
  }

  @Test
  void aPeerThatClosesAtOnceIsTriedAgainAfterAPause() throws IOException {
    try (ServerSocket closing = listening()) {
      Connected connected = connectedTo(closing.getLocalPort());
      closing.accept().close();
      assertThat(connected.awaitConnection(0)).startsWith("UNAVAILABLE: ");
      connected.time.pass(Duration.ofSeconds(3));
      closing.accept().close();
      connected.awaitConnection(1);
    }
  }

  @Test
  void aRefusedConnectionIsReported() {
    try (ReservedPort port = ReservedPort.take()) {
      Connected connected = connectedTo(port.number());
      assertThat(connected.awaitConnection(0)).contains("Connection refused");
    }
  }

  @Test
  void afterGoAwayTheStreamGoesOnUntilItsEnd() {
    Server first = serving();
    Connected connected = connectedTo(first.getPort());
    connected.awaitConnection(0);
    await().until(() -> controlPlane.requests().size() == 1);
    first.shutdown();
    controlPlane.stream().send("1", "a");
    connected.awaitVersion("1");
    await().until(() -> controlPlane.requests().size() == 2); // acknowledged

    connected.moveTo(serving().getPort());
    controlPlane.stream().end();
    connected.awaitConnection(1);
    connected.time.pass(Duration.ofSeconds(10));
    assertThat(connected.awaitConnection(2)).isEqualTo(Connected.CONNECTED);
    await().until(() -> controlPlane.lastRequest().getVersionInfo().equals("1"));
  }

  @Test
  void aConnectionThatIsCutIsReplaced() {
    TcpProxy proxy = opened(TcpProxy.to(serving().getPort()));
    Connected connected = connectedTo(proxy.port());
    connected.awaitConnection(0);
    proxy.cut();
    assertThat(connected.awaitConnection(1)).startsWith("UNAVAILABLE: ");
    connected.time.pass(Duration.ofSeconds(3));
    assertThat(connected.awaitConnection(2)).isEqualTo(Connected.CONNECTED);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void tcpProbesAConnectionWithoutData() {
    Server server = serving();
    Connected connected = connectedTo(server.getPort());
    connected.awaitConnection(0);
    // Address and port of the peer, state, queues, and the timer: 02 is that of probes, due within
    // 41 s. By default it would be two hours.
    String probed = " [0-9A-F]+:%04X 01 \\S+ 02:00000.*".formatted(server.getPort());
    await()
        .until(() ->
            Stream.of("/proc/net/tcp", "/proc/net/tcp6")
                .map(Path::of)
                .flatMap(ConnectionTest::lines)
                .anyMatch(line -> line.matches(".*" + probed)));
  }

  private static Stream<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException e) {
      return Stream.empty(); // a host without IPv6
    }
  }

  @Test
  void aConnectionThatIsCutBeforeItsResponsesAreReadIsReplaced() {
    TcpProxy proxy = opened(TcpProxy.to(serving().getPort()));
    Connected connected = connectedTo(proxy.port());
    connected.awaitConnection(0); // known to the client before the server has its stream
    await().until(() -> controlPlane.requests().size() == 1);
    for (int i = 1; i <= 5; i++) {
      controlPlane.stream().send("v" + i, "a");
    }
    connected.awaitVersion("v1");
    proxy.cut();
    await()
        .until(() -> {
          connected.time.pass(Duration.ofSeconds(1)); // there is a pause after each response
          return connected.known() > 1;
        });
    connected.time.pass(Duration.ofSeconds(10)); // half of the time that an attempt may take
    assertThat(connected.awaitConnection(2)).isEqualTo(Connected.CONNECTED);
  }

  @Test
  @Tag("thorough") // gRPC's shortest interval of pings and their timeout are 30 s
  void aPeerThatNoLongerAnswersPingsIsLeft() {
    TcpProxy proxy = opened(TcpProxy.to(serving().getPort()));
    Connected connected = opened(new Connected(proxy.port(), null, Duration.ofSeconds(10)));
    connected.awaitConnection(0);
    proxy.hang();
    await().until(() -> connected.known() > 1);
    assertThat(connected.awaitConnection(1)).contains("Keepalive failed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "envoy-gateway", "envoy-gateway:", ":18001", "http://a:1", "a:65536", "a b:1"})
  void anAddressIsHostAndPort(String target) {
    assertThatThrownBy(
            () -> new ControlPlaneAddress(target, null, 1, ControlPlaneAddress.DEFAULT_KEEP_ALIVE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("HOST:PORT, as envoy-gateway:18001, not '" + target + "'");
  }

  private Connected connectedTo(int port) {
    return opened(new Connected(port, null));
  }

  private Server serving() {
    return opened(Connected.serve(controlPlane));
  }

  private Server opened(Server server) {
    opened.addFirst(server::shutdownNow);
    return server;
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.addFirst(resource);
    return resource;
  }

  private static ServerSocket listening() throws IOException {
    return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  /** Returns a service that responds with bytes that are no message. */
  private static ServerServiceDefinition noise() {
    var method = AggregatedDiscoveryServiceGrpc.getStreamAggregatedResourcesMethod();
    MethodDescriptor<byte[], byte[]> raw = method.toBuilder(new Raw(), new Raw()).build();
    return ServerServiceDefinition.builder(AggregatedDiscoveryServiceGrpc.SERVICE_NAME)
        .addMethod(
            raw,
            ServerCalls.asyncBidiStreamingCall(responses ->
                new StreamObserver<byte[]>() {
                  @Override
                  public void onNext(byte[] request) {
                    responses.onNext(new byte[] {10, 99, 1});
                  }

                  @Override
                  public void onError(Throwable error) {}

                  @Override
                  public void onCompleted() {}
                }))
        .build();
  }

  private static final class Raw implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      return new byte[0];
    }
  }
}
