package io.throttlekit.envoy.ads;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Replays a recorded exchange with Envoy Gateway. */
class EnvoyGatewayExchangeTest {
  private static final Duration BETWEEN_CHANGES = Duration.ofMillis(400);

  @Test
  void everyRequestIsAsTheControlPlaneExpects() throws IOException {
    List<String> expected = lines();
    List<String> actual = new ArrayList<>();
    try (Subscribed subscribed = new Subscribed()) {
      FakeControlPlane controlPlane = subscribed.controlPlane;
      subscribed.listen(
          response -> response.texts().stream().filter(text -> text.endsWith("@bad")).findFirst());
      controlPlane.react((request, _) -> actual.add(text(request)));
      for (String line : expected) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "stream" -> {
            actual.add(line);
            connect(subscribed);
          }
          case "server" -> {
            actual.add(line);
            String[] texts = List.of(words).subList(3, words.length).toArray(String[]::new);
            controlPlane.stream().send(words[1].equals("-") ? "" : words[1], texts);
            subscribed.pass(BETWEEN_CHANGES);
            assertThat(subscribed.last().texts()).containsExactlyInAnyOrder(texts);
          }
          case "end" -> {
            actual.add(line);
            controlPlane.stream().end();
          }
          default -> assertThat(words[0]).isEqualTo("client");
        }
      }
      subscribed.pass(Duration.ofMinutes(10));
      assertThat(controlPlane.streams()).hasSize(4);
    }
    assertThat(actual).isEqualTo(expected);
  }

  /** Starts the subscription, or awaits its next stream. */
  private static void connect(Subscribed subscribed) {
    int known = subscribed.controlPlane.streams().size();
    if (known == 0) {
      subscribed.subscription.start("");
    }
    while (subscribed.controlPlane.streams().size() == known) {
      subscribed.pass(Duration.ofSeconds(1));
    }
  }

  private static String text(DiscoveryRequest request) {
    Optional<String> rejected =
        request.hasErrorDetail() ? Optional.of(" rejected") : Optional.empty();
    return "client "
        + orDash(request.getVersionInfo())
        + " "
        + orDash(request.getResponseNonce())
        + rejected.orElse("");
  }

  private static String orDash(String text) {
    return text.isEmpty() ? "-" : text;
  }

  private static List<String> lines() throws IOException {
    try (InputStream file =
        EnvoyGatewayExchangeTest.class.getResourceAsStream("envoy-gateway-exchange.txt")) {
      return new String(Objects.requireNonNull(file).readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .toList();
    }
  }
}
