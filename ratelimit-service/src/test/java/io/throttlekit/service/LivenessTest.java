package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.testkit.net.ReservedPort;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which probe notices which fault. */
class LivenessTest {
  @TempDir private Path folder;

  @Test
  void aHungEventLoopFailsTheLivenessProbeOnlyAndNotForEver() throws Exception {
    HungLoops time = new HungLoops();
    try (ReservedPort grpc = ReservedPort.take();
        ReservedPort http = ReservedPort.take();
        HttpClient client = HttpClient.newHttpClient()) {
      RateLimitService service = service(grpc.number(), http.number(), Map.of(), time);
      try {
        assertThat(service.start()).isTrue();
        await().until(() -> get(client, http.number(), "/livez").statusCode() == 200);

        time.hang = true;
        new Socket(InetAddress.getLoopbackAddress(), grpc.number()).close(); // wakes a loop
        time.hung.await();

        HttpResponse<String> live = get(client, http.number(), "/livez");
        assertThat(live.statusCode()).isEqualTo(503);
        assertThat(live.body()).matches("event loops that ran no task for 2 s: \\d+\n");
        assertThat(get(client, http.number(), "/readyz").statusCode()).isEqualTo(200);

        time.mayGoOn.countDown();
        await().until(() -> get(client, http.number(), "/livez").statusCode() == 200);
      } finally {
        time.mayGoOn.countDown();
        service.stop();
      }
    }
  }

  @Test
  void anUnreachableStoreFailsTheReadinessProbeOnly() throws Exception {
    try (ReservedPort grpc = ReservedPort.take();
        ReservedPort http = ReservedPort.take();
        ReservedPort redis = ReservedPort.take();
        HttpClient client = HttpClient.newHttpClient()) {
      Map<String, String> store =
          Map.of(
              "THROTTLEKIT_STORE_URI",
              "redis://127.0.0.1:" + redis.number(),
              "THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE",
              "true");
      RateLimitService service = service(grpc.number(), http.number(), store, TimeSource.system());
      try {
        assertThat(service.start()).isTrue();
        HttpResponse<String> ready = get(client, http.number(), "/readyz");
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).isEqualTo("the store is unreachable\n");
        assertThat(get(client, http.number(), "/startupz").statusCode()).isEqualTo(200);
        await().until(() -> get(client, http.number(), "/livez").statusCode() == 200);
      } finally {
        service.stop();
      }
    }
  }

  private RateLimitService service(int grpc, int http, Map<String, String> more, TimeSource time)
      throws Exception {
    Files.writeString(folder.resolve("p.yaml"), "domain: shop\n");
    Map<String, String> environment = new HashMap<>(more);
    environment.putAll(
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", folder.toString(),
            "GRPC_HOST", "127.0.0.1",
            "HOST", "127.0.0.1",
            "GRPC_PORT", Integer.toString(grpc),
            "PORT", Integer.toString(http),
            "DEBUG_PORT", "0",
            "THROTTLEKIT_WARM_UP_REQUESTS", "0"));
    var config = new ConfigLoader(environment).load(Map.of()).config();
    return new RateLimitService(Objects.requireNonNull(config), time);
  }

  private static HttpResponse<String> get(HttpClient client, int port, String path)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }

  /** A clock whose reads block the event loops while they hang. */
  private static final class HungLoops implements TimeSource {
    final CountDownLatch hung = new CountDownLatch(1);
    final CountDownLatch mayGoOn = new CountDownLatch(1);
    volatile boolean hang;

    @Override
    public long wallMillis() {
      return TimeSource.system().wallMillis();
    }

    @Override
    public long monotonicNanos() {
      if (hang && Thread.currentThread().getName().startsWith("grpc-loop")) {
        hung.countDown();
        try {
          mayGoOn.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return TimeSource.system().monotonicNanos();
    }
  }
}
