package io.throttlekit.demo.fair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@RealEnvoy
class FairDemoTest {
  /** A longer filter timeout, because other tests use the processors. */
  private static final String LONG_TIMEOUT = "60s";

  private static final int GOLD = 0;
  private static final int BRONZE = 2;

  private static final Pattern COMMAND =
      Pattern.compile(
          "curl -s -i -H 'x-org: (\\w+)' '(http://127\\.0\\.0\\.1:\\d+/api)\\?\\[1-40]'");

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new CopyOnWriteArrayList<>();

  @Test
  void aFloodTakesNothingFromTheOthersAndOneTenantMoreIsRefusedWithItsOwnLimit() throws Exception {
    DemoEnvironment environment = environment(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"));
    FairDemo demo = new FairDemo(environment, LONG_TIMEOUT);
    Future<FairSummary> running;
    try (ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor();
        PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      running = thread.submit(() -> demo.run(0, out, false));
      await().until(() -> running.isDone() || floodHasBegun());
      HttpResponse<Void> refused = callUntilRefused();
      environment.stop();
      assertThat(FairTraffic.limit(refused))
          .as("70 / 8, or 70 / 4 while the first tenant is absent, and a unit lent")
          .isIn(8L, 9L, 17L, 18L);
    }
    FairSummary summary = running.get();
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.json();
    FairSummary.Row gold = summary.rows().get(GOLD);
    FairSummary.Row bronze = summary.rows().get(BRONZE);
    assertThat(bronze.refused()).as(seen).isPositive();
    assertThat(gold.admitted()).as(seen).isPositive();
    assertThat(refusedOf(gold)).as(seen).isLessThan(refusedOf(bronze) / 2);
    assertThat(progress)
        .anyMatch(line -> line.contains("weights: {gold: 4, silver: 2, bronze: 1}"));
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  /** Returns the share of the answered requests that were refused: a slow machine fails others. */
  private static double refusedOf(FairSummary.Row row) {
    return row.refused() / (double) (row.admitted() + row.refused());
  }

  @Test
  void failsWithoutAnEnvoy() {
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      assertThatThrownBy(() ->
              new FairDemo(environment(new EnvoyLookup.Unavailable("no network")), LONG_TIMEOUT)
                  .run(1, out, false))
          .isInstanceOf(IOException.class)
          .hasMessage("no Envoy: no network");
    }
    assertThat(progress).isEmpty();
  }

  private DemoEnvironment environment(EnvoyLookup envoy) {
    return new DemoEnvironment(_ -> envoy, progress::add);
  }

  private boolean floodHasBegun() {
    return screen.toString(StandardCharsets.UTF_8).contains("initech floods");
  }

  /**
   * Sends the requests of the command that the demo prints, without a plan and all at once, until
   * one is refused in a window in which the tenant has used its part. In the first window, others
   * may have used it.
   */
  private HttpResponse<Void> callUntilRefused() throws Exception {
    Matcher command = COMMAND.matcher(String.join("\n", progress));
    assertThat(command.find()).as("%s", progress).isTrue();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(command.group(2)))
            .header("x-org", command.group(1))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return await().until(() -> refused(client, request), Optional::isPresent).orElseThrow();
    }
  }

  private static Optional<HttpResponse<Void>> refused(HttpClient client, HttpRequest request) {
    return Stream.generate(() -> client.sendAsync(request, BodyHandlers.discarding()))
        .limit(40)
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .filter(response -> response.statusCode() == 429)
        .filter(response ->
            response.headers().firstValue("x-ratelimit-remaining").equals(Optional.of("0")))
        .findFirst();
  }
}
