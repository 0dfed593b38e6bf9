package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests connections to a host whose name is resolved slowly, or not at all. */
class NameResolutionTest {
  private final NameServer nameServer = NameServer.start();

  @AfterEach
  void stop() {
    nameServer.close();
  }

  @Test
  void aQueryWithoutAnswerDoesNotHoldTheQueriesOfOtherStores() throws Exception {
    Attempt abandoned = new Attempt(Wanted.redis("redis://redis.test:6379"), nameServer);
    StoreCalls.await("queried", () -> nameServer.queries.get() > 0);
    abandoned.endLoop();

    nameServer.answers = true;
    try (Attempt next = new Attempt(Wanted.redis("redis://redis.test:6379"), nameServer)) {
      assertThat(next.reason()).startsWith("unknown host: Failed to resolve 'redis.test'");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis://redis.test:6379", "redis-sentinel://redis.test:6379#main"})
  void aSilentNameServerIsTheReason(String url) throws Exception {
    try (Attempt attempt = new Attempt(Wanted.redis(url), nameServer)) {
      assertThat(attempt.reason())
          .startsWith("name resolution timed out: Failed to resolve 'redis.test'");
    }
  }

  @Test
  void aSilentNameServerIsTheReasonForEachNodeOfACluster() throws Exception {
    Wanted cluster = Wanted.cluster("redis://a.test:6379,redis://b.test:6379");
    try (Attempt attempt = new Attempt(cluster, nameServer)) {
      assertThat(attempt.reason())
          .contains("[redis://a.test]: ", "[redis://b.test]: ")
          .endsWith("; name resolution timed out");
    }
  }

  /** An attempt to connect, on a loop of its own. */
  private static final class Attempt implements Link.Listener, AutoCloseable {
    private final CompletableFuture<String> reason = new CompletableFuture<>();
    private final Clients clients;
    private final EventLoopGroup loops;

    Attempt(Wanted wanted, NameServer nameServer) {
      this.clients = new Clients(wanted.settings(), nameServer.provider());
      this.loops = clients.ownLoop();
      clients.link(loops.next().next(), this).open();
    }

    String reason() throws Exception {
      return reason.get(240, TimeUnit.SECONDS);
    }

    void endLoop() {
      var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    @Override
    public CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> commands) {
      return CompletableFuture.failedFuture(new IllegalStateException("connected"));
    }

    @Override
    public void connected() {}

    @Override
    public void disconnected() {}

    @Override
    public void notConnected(String failureReason) {
      reason.complete(failureReason);
    }

    @Override
    public void close() {
      clients.close();
      endLoop();
    }
  }

  /** A name server that knows no name. It does not answer at first. */
  private static final class NameServer implements AutoCloseable {
    private static final int IS_RESPONSE = 0x80; // in the third byte
    private static final int NO_SUCH_NAME = 3; // in the fourth

    private final DatagramSocket socket;
    final AtomicInteger queries = new AtomicInteger();
    volatile boolean answers;

    private NameServer(DatagramSocket socket) {
      this.socket = socket;
    }

    static NameServer start() {
      try {
        NameServer server = new NameServer(new DatagramSocket(0, InetAddress.getLoopbackAddress()));
        Thread.ofVirtual().start(server::serve);
        return server;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    DnsServerAddressStreamProvider provider() {
      return new SingletonDnsServerAddressStreamProvider(
          (InetSocketAddress) socket.getLocalSocketAddress());
    }

    private void serve() {
      DatagramPacket packet = new DatagramPacket(new byte[512], 512);
      try {
        while (true) {
          packet.setLength(512);
          socket.receive(packet);
          queries.incrementAndGet();
          if (answers) {
            byte[] message = packet.getData();
            message[2] = (byte) (message[2] | IS_RESPONSE);
            message[3] = NO_SUCH_NAME;
            socket.send(packet);
          }
        }
      } catch (IOException _) {
        // closed
      }
    }

    @Override
    public void close() {
      socket.close();
    }
  }
}
