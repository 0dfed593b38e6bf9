package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.testkit.net.ReservedPort;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests when a starting service becomes ready. */
class ReadinessTest {
  @TempDir private Path folder;

  @Test
  void isNotReadyBeforeTheWarmUpHasEnded() throws Exception {
    try (ReservedPort grpc = ReservedPort.take();
        ReservedPort http = ReservedPort.take()) {
      assertNotReadyBeforeTheWarmUpHasEnded(grpc.number(), http.number());
    }
  }

  private void assertNotReadyBeforeTheWarmUpHasEnded(int grpc, int http) throws Exception {
    HeldWarmUp time = new HeldWarmUp();
    RateLimitService service = service(grpc, http, time);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", grpc).usePlaintext().build();
    try (HttpClient client = HttpClient.newHttpClient();
        Logged log = Logged.by(RateLimitService.class)) {
      time.holds(() -> !log.lines().isEmpty()); // from the warm-up's first line on
      FutureTask<Boolean> start = new FutureTask<>(service::start);
      Thread.ofPlatform().name(HeldWarmUp.STARTING).start(start);
      time.begun.await();
      assertThat(log.lines())
          .containsExactly("INFO warming up before it is ready, with at most 100 requests");
      assertThat(service.healthy()).isFalse();
      assertThat(health(channel)).isEqualTo(ServingStatus.NOT_SERVING);
      assertThat(healthCheck(client, http)).isEqualTo(500);
      assertThat(start.isDone()).as("the ready line follows").isFalse();

      time.mayEnd.countDown();

      assertThat(start.get()).isTrue();
      assertThat(service.healthy()).isTrue();
      assertThat(health(channel)).isEqualTo(ServingStatus.SERVING);
      assertThat(healthCheck(client, http)).isEqualTo(200);
    } finally {
      time.mayEnd.countDown();
      channel.shutdownNow();
      service.stop();
    }
  }

  private RateLimitService service(int grpc, int http, TimeSource time) throws Exception {
    Files.writeString(folder.resolve("p.yaml"), "domain: shop\n");
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", folder.toString(),
            "GRPC_HOST", "127.0.0.1",
            "HOST", "127.0.0.1",
            "GRPC_PORT", Integer.toString(grpc),
            "PORT", Integer.toString(http),
            "DEBUG_PORT", "0",
            "THROTTLEKIT_WARM_UP_REQUESTS", "100");
    var config = new ConfigLoader(environment).load(Map.of()).config();
    return new RateLimitService(Objects.requireNonNull(config), time);
  }

  private static ServingStatus health(ManagedChannel channel) {
    return HealthGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .check(HealthCheckRequest.getDefaultInstance())
        .getStatus();
  }

  private static int healthCheck(HttpClient client, int port) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port + "/healthcheck");
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding()).statusCode();
  }

  /** A clock that blocks the starting thread at its next read once a condition is true. */
  private static final class HeldWarmUp implements TimeSource {
    static final String STARTING = "starting";

    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    private volatile BooleanSupplier when = () -> false;

    void holds(BooleanSupplier when) {
      this.when = when;
    }

    @Override
    public long wallMillis() {
      return TimeSource.system().wallMillis();
    }

    @Override
    public long monotonicNanos() {
      if (Thread.currentThread().getName().equals(STARTING) && when.getAsBoolean()) {
        begun.countDown();
        try {
          mayEnd.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return TimeSource.system().monotonicNanos();
    }
  }
}
