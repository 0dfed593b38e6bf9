package io.throttlekit.service.fleet;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;

/** Calls one process of the service, as Envoy and as an operator. */
final class Caller implements AutoCloseable {
  private static final String FEDERATION = "throttlekit_federation_";

  private final String domain;
  private final ManagedChannel channel;
  private final int debugPort;

  /** Calls for the domain shop. */
  Caller(ServiceProcess service) {
    this(service, "shop");
  }

  Caller(ServiceProcess service, String domain) {
    this.domain = domain;
    this.channel =
        NettyChannelBuilder.forAddress("127.0.0.1", service.port()).usePlaintext().build();
    this.debugPort = service.debugPort();
  }

  /** Returns the answer to one request with one entry, of any value. */
  Code ask(String key) {
    return ask(key, "v");
  }

  /** Returns the answer to one request with one entry. */
  Code ask(String key, String value) {
    RateLimitServiceBlockingStub stub =
        RateLimitServiceGrpc.newBlockingStub(channel).withDeadlineAfter(Duration.ofMinutes(2));
    return stub.shouldRateLimit(
            RateLimitRequest.newBuilder()
                .setDomain(domain)
                .addDescriptors(
                    RateLimitDescriptor.newBuilder()
                        .addEntries(
                            RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
                .build())
        .getOverallCode();
  }

  /** Returns how many of the sequential requests are admitted. */
  long admittedOf(long requests, String key, String value) {
    long admitted = 0;
    for (long i = 0; i < requests; i++) {
      admitted += ask(key, value) == Code.OK ? 1 : 0;
    }
    return admitted;
  }

  /** Returns a page of the debug port. */
  String page(String path) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + debugPort + path);
      return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }
  }

  /** Waits until the store has answered: a slow first connection does not delay a start. */
  void awaitStore() {
    Awaitility.await("the store").until(() -> page("/rlconfig").contains(" answers\n"));
  }

  /** Returns the value of a counter or gauge without labels; -1 if there is none. */
  double metric(String name) throws IOException, InterruptedException {
    return page("/metrics")
        .lines()
        .filter(line -> line.startsWith(name + ' '))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElse(-1);
  }

  /** Returns the sum of a counter or gauge over its labels; 0 if there is none. */
  double sum(String name) throws IOException, InterruptedException {
    return page("/metrics")
        .lines()
        .filter(line -> line.startsWith(name + ' ') || line.startsWith(name + '{'))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** Waits until the process has not leased, refilled or returned anything for so long. */
  void awaitNoLeases(Duration quiet) {
    AtomicReference<List<String>> last = new AtomicReference<>(List.of());
    Awaitility.await("no leases")
        .during(quiet)
        .until(() -> {
          List<String> now =
              page("/metrics").lines().filter(line -> line.startsWith(FEDERATION)).toList();
          return now.equals(last.getAndSet(now));
        });
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
