package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnixSocketTest {
  private final EventLoopGroup clientLoops = Channels.epoll();

  @TempDir Path folder;

  @BeforeEach
  void needsEpoll() {
    assumeTrue(Epoll.isAvailable());
  }

  @AfterEach
  void stop() {
    var _ = clientLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void servesOnASocketInsteadOfAPortAndRemovesItOnStop() {
    Path socket = folder.resolve("rl.sock");
    GrpcServer server = serve(socket);
    assertThat(server.port()).isEqualTo(-1);
    assertThat(server.address()).isEqualTo(socket.toString());
    assertThat(callService(socket)).isEqualTo(Code.OK);
    server.stop();
    assertThat(socket).doesNotExist();
  }

  @Test
  void aStaleSocketFileIsReplaced() throws IOException {
    Path socket = folder.resolve("rl.sock");
    ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(socket))
        .close();
    assertThat(socket).exists();
    GrpcServer server = serve(socket);
    assertThat(callService(socket)).isEqualTo(Code.OK);
    server.stop();
  }

  @Test
  void aSocketInUseIsKept() {
    Path socket = folder.resolve("rl.sock");
    GrpcServer first = serve(socket);
    assertThatThrownBy(() -> serve(socket))
        .isInstanceOf(ListenException.class)
        .hasMessage("cannot listen for gRPC on " + socket + ": another process does");
    assertThat(callService(socket)).isEqualTo(Code.OK);
    first.stop();
  }

  @Test
  void aFileThatIsNotASocketIsKept() throws IOException {
    Path file = Files.writeString(folder.resolve("data"), "precious");
    assertThatThrownBy(() -> serve(file))
        .isInstanceOf(ListenException.class)
        .hasMessage("cannot listen for gRPC on " + file + ": it is not a socket");
    assertThat(file).hasContent("precious");
  }

  private static GrpcServer serve(Path socket) {
    return new Setup(Book.X, Setup.NATIVE, Setup.BARE)
        .serve(Setup.listener(socket, null, Duration.ofSeconds(5), Duration.ZERO));
  }

  private Code callService(Path socket) {
    var channel = Channels.unix(socket, clientLoops);
    try {
      return RateLimitServiceGrpc.newBlockingStub(channel)
          .shouldRateLimit(x(entries("ten", "a")))
          .getOverallCode();
    } finally {
      channel.shutdownNow();
    }
  }
}
