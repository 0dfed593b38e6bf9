package io.throttlekit.service.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.MoreExecutors;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceFutureStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that invent domains and request pages that they do not read, against a process with a
 * fifth of the heap that {@code bin/throttlekit} gives it.
 */
@Tag("process")
class HttpAttackTest {
  private static final int DOMAINS = 10_000;
  private static final int AT_ONCE = 200;
  private static final int SLOW_READERS = 60;
  private static final int RULES = 4_000;

  /** The maximum size of a page of metrics under any requests. */
  private static final int MAX_METRICS_BYTES = 256 << 10;

  @TempDir private Path folder;
  private final List<Socket> sockets = new ArrayList<>();

  @Test
  void inventedDomainsAndSlowReadersDoNotSlowDecisions() throws Exception {
    Path policies = Files.writeString(folder.resolve("p.yaml"), policies());
    ManagedChannel channel = null;
    try (ServiceProcess service =
            ServiceProcess.start(policies, Map.of(), 0, folder.resolve("log"));
        HttpClient client = HttpClient.newHttpClient()) {
      channel = NettyChannelBuilder.forAddress("127.0.0.1", service.port()).usePlaintext().build();
      requestInventedDomains(RateLimitServiceGrpc.newFutureStub(channel));
      for (int i = 0; i < SLOW_READERS; i++) {
        boolean metrics = i % 2 == 0;
        sendGet(
            metrics ? service.httpPort() : service.debugPort(),
            metrics ? "/metrics" : "/rlconfig?format=json");
      }
      HttpResponse<byte[]> metrics = get(client, service.httpPort(), "/metrics");
      assertThat(metrics.statusCode()).isEqualTo(200);
      assertThat(metrics.body().length).isBetween(1, MAX_METRICS_BYTES);
      assertThat(get(client, service.httpPort(), "/healthcheck").statusCode()).isEqualTo(200);
      assertThat(get(client, service.debugPort(), "/rlconfig").body()).hasSizeGreaterThan(100_000);
      var stub = RateLimitServiceGrpc.newBlockingStub(channel);
      for (int i = 0; i < 1_000; i++) {
        Code code = stub.shouldRateLimit(request("shop", "r" + i)).getOverallCode();
        assertThat(code).as("decision %d", i).isEqualTo(Code.OK);
      }
      assertThat(service.log()).doesNotContain("OutOfMemoryError");
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
      if (channel != null) {
        channel.shutdownNow();
      }
    }
  }

  private static void requestInventedDomains(RateLimitServiceFutureStub stub)
      throws InterruptedException {
    Semaphore room = new Semaphore(AT_ONCE);
    for (int i = 0; i < DOMAINS; i++) {
      room.acquire();
      stub.shouldRateLimit(request("invented-" + i + "-" + "x".repeat(200), "k"))
          .addListener(room::release, MoreExecutors.directExecutor());
    }
    room.acquire(AT_ONCE);
  }

  /** Requests a page, and never reads it. */
  private void sendGet(int port, String path) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    socket.setReceiveBufferSize(4_096);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket
        .getOutputStream()
        .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(US_ASCII));
  }

  private static HttpResponse<byte[]> get(HttpClient client, int port, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofMinutes(2))
            .build();
    return client.send(request, BodyHandlers.ofByteArray());
  }

  private static RateLimitRequest request(String domain, String key) {
    return RateLimitRequest.newBuilder()
        .setDomain(domain)
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue("v")))
        .build();
  }

  private static String policies() {
    StringBuilder policies = new StringBuilder("domain: shop\ndescriptors:\n");
    for (int i = 0; i < RULES; i++) {
      policies
          .append("  - {key: r")
          .append(i)
          .append(", rate_limit: {unit: day, requests_per_unit: 100}}\n");
    }
    return policies.toString();
  }
}
