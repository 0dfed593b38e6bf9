package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.filter.FilterActions;
import io.throttlekit.envoy.filter.FilterText;
import io.throttlekit.service.server.Book;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Envoys with the published settings leave a replica that hangs before the shortest hold of their
 * shares ends.
 */
class EnvoyHoldTest {
  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")));

  /** A replica is gone after 3 s without a report, which it sends each second. */
  private static final Duration UNTIL_GONE = Duration.ofSeconds(3 - 1);

  /** Envoy's default jitter of pings. */
  private static final double JITTER = 1.15;

  private static final String SECONDS = "([0-9.]+)s";
  private static final Pattern PINGS =
      Pattern.compile(
          "connection_keepalive: \\{interval: " + SECONDS + ", timeout: " + SECONDS + "}");
  private static final Pattern CHECKS =
      Pattern.compile(
          "\\{interval: "
              + SECONDS
              + ", timeout: "
              + SECONDS
              + ", no_traffic_interval: "
              + SECONDS
              + ", unhealthy_threshold: ([0-9]+),");
  private static final Pattern BACK_OFF =
      Pattern.compile(
          "cluster_name: throttlekit\\w*,?\\s+retry_policy: \\{retry_back_off: \\{base_interval: "
              + SECONDS
              + ", max_interval: "
              + SECONDS
              + "}}");

  /**
   * Longest time in which an Envoy with the printed bootstrap gives up a stream to a replica that
   * hangs, and opens another one: 1.15 times the interval of pings (their jitter) or an interval of
   * health checks for each permitted failure, with the timeouts; then the longest back-off and a
   * connect timeout.
   */
  private static final Duration RECONNECTED = Duration.ofMillis(6_300);

  private static final Pattern CONNECT = Pattern.compile("connect_timeout: " + SECONDS);

  record PublishedBootstrap(String name, String text) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Stream<PublishedBootstrap> published() throws IOException {
    return Stream.of(
        new PublishedBootstrap(
            "concurrency-limit.yaml", EnvoyExample.CONCURRENCY_LIMIT.bootstrap()),
        new PublishedBootstrap("throttlekit envoy", printed()),
        file("docs/REPLICAS.md"),
        file("demo/src/main/resources/io/throttlekit/demo/fleet/envoy.yaml"));
  }

  private static PublishedBootstrap file(String path) throws IOException {
    return new PublishedBootstrap(path, Files.readString(ROOT.resolve(path)));
  }

  private static String printed() {
    PolicyBook book = Book.of(EnvoyExample.CONCURRENCY_LIMIT.policy());
    return new FilterText(List.of(FilterActions.of(book, "concurrency-limit", Map.of())))
        .bootstrap();
  }

  @ParameterizedTest
  @MethodSource("published")
  void publishedSettingsNoticeAHungReplicaWithinTheShortestHold(PublishedBootstrap settings)
      throws IOException {
    assertThat(settings.text())
        .contains("healthy_panic_threshold: {value: 0}")
        .contains("close_connections_on_host_health_failure: true");
    assertThat(reconnected(settings.text())).isLessThanOrEqualTo(shortestHold().plus(UNTIL_GONE));
  }

  @Test
  void thePrintedBootstrapReconnectsInTheDocumentedTime() {
    assertThat(reconnected(printed())).isEqualTo(RECONNECTED);
    assertThat(seconds(all(PINGS, printed()).getFirst(), 1))
        .isEqualTo((double) FilterText.PING_INTERVAL.toSeconds());
  }

  /** Returns the longest time until an Envoy has opened another stream. */
  private static Duration reconnected(String text) {
    double pings =
        all(PINGS, text).stream()
            .mapToDouble(ping -> JITTER * seconds(ping, 1) + seconds(ping, 2))
            .max()
            .orElseThrow();
    double checks =
        all(CHECKS, text).stream()
            .mapToDouble(
                check -> Integer.parseInt(check.group(4)) * (seconds(check, 1) + seconds(check, 2)))
            .max()
            .orElseThrow();
    double backOff = seconds(all(BACK_OFF, text).getFirst(), 2);
    double connect = seconds(all(CONNECT, text).getFirst(), 1);
    return Duration.ofMillis(Math.round((Math.max(pings, checks) + backOff + connect) * 1_000));
  }

  private static List<MatchResult> all(Pattern pattern, String text) {
    List<MatchResult> all = pattern.matcher(text).results().toList();
    assertThat(all).as(pattern.pattern()).isNotEmpty();
    return all;
  }

  private static double seconds(MatchResult found, int group) {
    return Double.parseDouble(found.group(group));
  }

  private static Duration shortestHold() throws IOException {
    try (InputStream settings =
        Objects.requireNonNull(EnvoyHoldTest.class.getResourceAsStream("/service-settings.yaml"))) {
      String text = new String(settings.readAllBytes(), StandardCharsets.UTF_8);
      MatchResult least =
          all(Pattern.compile("concurrency\\.envoy_hold: \\{[^}]*min: ([0-9]+)s"), text).getFirst();
      return Duration.ofSeconds(Long.parseLong(least.group(1)));
    }
  }
}
