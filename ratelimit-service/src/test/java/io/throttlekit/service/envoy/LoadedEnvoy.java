package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real Envoy on the example of {@code gate: envoy}, which admits nothing before it has a share,
 * and the requests that it admitted, all of which the upstream holds. For one thread.
 */
final class LoadedEnvoy implements AutoCloseable {
  private static final Pattern SHARE =
      Pattern.compile(
          "\"circuit_breakers\\.upstream\\.default\\.max_requests\": \\{[^}]*"
              + "\"final_value\": \"(\\d+)\"");

  private final EnvoyProcess envoy;
  private final Upstream upstream;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private int held;

  private LoadedEnvoy(EnvoyProcess envoy, Upstream upstream) {
    this.envoy = envoy;
    this.upstream = upstream;
  }

  /** Starts it, and waits until it has a share, or its connection was given up. */
  static LoadedEnvoy start(String node, ServiceOfTest service, Upstream upstream, Path folder)
      throws IOException {
    EnvoyWiring wiring =
        new EnvoyWiring(
            0,
            0,
            service.port(),
            service.sensorsPort(),
            upstream.port(),
            AwaitLimit.LIMIT,
            Path.of("/dev/null"));
    String bootstrap =
        EnvoyExample.CONCURRENCY_LIMIT
            .bootstrap(wiring)
            .replace("id: edge-1", "id: " + node)
            .replace("max_requests: 100", "max_requests: 0")
            .replace("initial_fetch_timeout: 1s", "initial_fetch_timeout: 30s");
    Path own = Files.createTempDirectory(folder, "envoy");
    return new LoadedEnvoy(EnvoyProcess.start(EnvoyProgram.path(), bootstrap, own), upstream);
  }

  /** Sends a request, and returns how many are held. */
  int attempt() {
    int before = upstream.requests();
    URI uri = URI.create("http://127.0.0.1:" + envoy.port() + "/?hold");
    CompletableFuture<HttpResponse<Void>> sent =
        client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
    await().until(() -> sent.isDone() || upstream.requests() > before);
    assertThat(sent.isDone() ? sent.join().statusCode() : 503).isEqualTo(503);
    held += sent.isDone() ? 0 : 1;
    return held;
  }

  int held() {
    return held;
  }

  /**
   * Returns how many requests these Envoys may have in flight together by their shares.
   *
   * <p>Requests in flight would not show the shares: requests of a larger share remain. Since
   * shares change while they are read, two readings in a row are equal.
   */
  static int shares(Collection<LoadedEnvoy> envoys) throws IOException {
    List<Integer> before = List.of();
    List<Integer> shares = readShares(envoys);
    while (!shares.equals(before)) {
      before = shares;
      shares = readShares(envoys);
    }
    return shares.stream().mapToInt(Integer::intValue).sum();
  }

  private static List<Integer> readShares(Collection<LoadedEnvoy> envoys) throws IOException {
    List<Integer> shares = new ArrayList<>();
    for (LoadedEnvoy each : envoys) {
      Matcher value = SHARE.matcher(each.envoy.admin("/runtime"));
      shares.add(value.find() ? Integer.parseInt(value.group(1)) : 0);
    }
    return shares;
  }

  @Override
  public void close() {
    client.shutdownNow();
    envoy.close();
  }
}
