package io.throttlekit.service.telemetry.statsd;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.Logged;
import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.StatsdConfig.Format;
import io.throttlekit.service.config.StatsdConfig.Protocol;
import io.throttlekit.service.config.StatsdConfig.Rewrite;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StatsdSinkTest {
  private static final SortedMap<String, String> NO_TAGS = new TreeMap<>();

  private final AtomicLong hits = new AtomicLong();
  private final StatsdSource source =
      reader -> {
        reader.counter("ratelimit.hits", hits.get());
        reader.counter("ratelimit.never", 0);
        reader.gauge("ratelimit.cx_active", 2);
      };

  @Test
  void sendsOverTcpWhatCountersCountedSinceTheLastTransfer() throws Exception {
    try (ServerSocket server = tcp();
        StatsdSink sink = new StatsdSink(config(server.getLocalPort(), Protocol.TCP), source)) {
      hits.set(5);
      sink.responseTimes().accept(1_250_000);
      sink.flush();
      assertThat(received(server))
          .isEqualTo(
              """
              ratelimit.hits:5|c
              ratelimit.cx_active:2|g
              ratelimit_server.ShouldRateLimit.response_time:1.250|ms
              """);
      hits.set(8);
      sink.flush();
      assertThat(received(server)).isEqualTo("ratelimit.hits:3|c\nratelimit.cx_active:2|g\n");
      sink.flush();
      assertThat(received(server)).isEqualTo("ratelimit.cx_active:2|g\n");
    }
  }

  @Test
  void sendsAfterAnOutageWhatWasCountedMeanwhile() throws Exception {
    int port;
    try (ServerSocket closed = tcp()) {
      port = closed.getLocalPort();
    }
    try (StatsdSink sink = new StatsdSink(config(port, Protocol.TCP), source)) {
      hits.set(5);
      sink.flush(); // refused
      hits.set(7);
      sink.flush();
      try (ServerSocket server = new ServerSocket(port, 10, InetAddress.getLoopbackAddress())) {
        sink.flush();
        assertThat(received(server)).startsWith("ratelimit.hits:7|c\n");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHostWithoutAnAddressIsReportedOnceAndSendsNothing(Protocol protocol) {
    StatsdConfig unresolvable =
        new StatsdConfig(
            "nobody.invalid",
            8_125,
            protocol,
            Format.STATSD,
            NO_TAGS,
            List.of(),
            Duration.ofHours(1));
    try (Logged log = Logged.by(StatsdSink.class);
        StatsdSink sink = new StatsdSink(unresolvable, source)) {
      sink.start();
      sink.flush();
      sink.flush();
      assertThat(log.lines())
          .hasSize(2)
          .last()
          .asString()
          .startsWith("WARNING")
          .contains("nobody.invalid:8125");
    }
  }

  @Test
  void givesUpAServerThatDoesNotRead() throws Exception {
    StatsdSource large =
        reader -> {
          for (int i = 0; i < 100_000; i++) { // more than the sockets' buffers hold
            reader.counter("n" + "x".repeat(200) + i, 1);
          }
        };
    try (ServerSocket server = tcp();
        StatsdSink sink =
            new StatsdSink(
                config(server.getLocalPort(), Protocol.TCP), large, Duration.ofMillis(100))) {
      sink.flush(); // returns
      try (Socket accepted = server.accept()) {
        assertThat(accepted.getInputStream().readAllBytes()).as("closed").isNotEmpty();
      }
    }
  }

  @Test
  void sendsDatagramsThatFitIntoAFrame() throws Exception {
    StatsdSource many =
        reader -> {
          for (int i = 0; i < 100; i++) {
            reader.counter("ratelimit.service.rate_limit.domain.key_" + i + ".total_hits", 1);
          }
        };
    try (DatagramSocket server = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        StatsdSink sink = new StatsdSink(config(server.getLocalPort(), Protocol.UDP), many)) {
      sink.flush();
      StringBuilder text = new StringBuilder();
      while (text.toString().lines().count() < 100) {
        DatagramPacket packet = new DatagramPacket(new byte[9_000], 9_000);
        server.receive(packet);
        assertThat(packet.getLength()).isLessThanOrEqualTo(1_432);
        text.append(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8));
      }
      assertThat(text.toString().lines().distinct()).hasSize(100);
    }
  }

  @Test
  void writesTagsIntoTheNameOrAfterTheValue() {
    SortedMap<String, String> tags = new TreeMap<>(Map.of("zone", "a.b", "env", "prod"));
    hits.set(1);
    TimerSamples.Batch none = new TimerSamples.Batch(0, List.of());

    assertThat(report(source, Format.STATSD, tags).lines(none))
        .startsWith("ratelimit.hits.__env=prod.__zone=a_b:1|c");
    assertThat(report(source, Format.DOGSTATSD, tags).lines(none))
        .startsWith("ratelimit.hits:1|c|#env:prod,zone:a.b");
  }

  @Test
  void theFirstRewriteThatMatchesGivesNameAndTags() {
    StatsdSource rules =
        reader -> {
          reader.counter("ratelimit.service.rate_limit.shop.user.over_limit", 1);
          reader.counter("ratelimit.service.rate_limit.shop.user_a,b:c|d\n@#.over_limit", 1);
          reader.gauge("ratelimit.cx_active", 2);
        };
    List<Rewrite> rewrites =
        List.of(
            new Rewrite(
                "^ratelimit\\.service\\.rate_limit\\.([^.]+)\\.(.+)\\.([^.]+)$",
                "rule.$3",
                new TreeMap<>(Map.of("rule", "$2", "domain", "$1"))),
            new Rewrite("rate_limit", "never", NO_TAGS),
            new Rewrite("response_time(x)?", "time$1.$0", NO_TAGS));
    TimerSamples.Batch one = new TimerSamples.Batch(1, List.of(1_000_000L));

    assertThat(
            new StatsdReport(
                    rules, config(1, Format.DOGSTATSD, new TreeMap<>(Map.of("z", "0")), rewrites))
                .lines(one))
        .containsExactly(
            "rule.over_limit:1|c|#z:0,domain:shop,rule:user",
            "rule.over_limit:1|c|#z:0,domain:shop,rule:user_a_b_c_d\uFFFD@#",
            "ratelimit.cx_active:2|g|#z:0",
            "time.response_time:1.000|ms|#z:0");
    assertThat(new StatsdReport(rules, config(1, Format.STATSD, NO_TAGS, rewrites)).lines(one))
        .contains("ratelimit.service.rate_limit.shop.user.over_limit:1|c");
  }

  @Test
  void aNameFromARequestCannotEndItsLine() {
    StatsdSource hostile = reader -> reader.counter("a\nb:1|c\rd", 1);

    assertThat(report(hostile, Format.STATSD, NO_TAGS).lines(new TimerSamples.Batch(0, List.of())))
        .containsExactly("a\uFFFDb_1_c\uFFFDd:1|c");
  }

  @Test
  void aCounterThatBeginsAgainIsSentWhole() {
    StatsdReport report = report(source, Format.STATSD, NO_TAGS);
    TimerSamples.Batch none = new TimerSamples.Batch(0, List.of());
    hits.set(9);
    assertThat(report.lines(none)).contains("ratelimit.hits:9|c");
    report.succeeded();
    hits.set(4);
    assertThat(report.lines(none)).contains("ratelimit.hits:4|c");
  }

  @Test
  void samplesTimesBeyondAThousandAndSaysSo() {
    TimerSamples samples = new TimerSamples(bound -> bound - 1); // none is replaced
    for (int i = 0; i < 4_000; i++) {
      samples.accept(1_000_000);
    }
    TimerSamples.Batch batch = samples.take();

    assertThat(batch.nanos()).hasSize(TimerSamples.MAX_SAMPLES).containsOnly(1_000_000L);
    assertThat(report(_ -> {}, Format.STATSD, NO_TAGS).lines(batch))
        .hasSize(1_000)
        .containsOnly("ratelimit_server.ShouldRateLimit.response_time:1.000|ms|@0.250000");
    assertThat(samples.take().nanos()).isEmpty();
  }

  private static StatsdConfig config(int port, Protocol protocol) {
    return new StatsdConfig(
        "127.0.0.1", port, protocol, Format.STATSD, NO_TAGS, List.of(), Duration.ofHours(1));
  }

  private static StatsdConfig config(
      int port, Format format, SortedMap<String, String> tags, List<Rewrite> rewrites) {
    return new StatsdConfig(
        "127.0.0.1", port, Protocol.UDP, format, tags, rewrites, Duration.ofHours(1));
  }

  private static StatsdReport report(
      StatsdSource source, Format format, SortedMap<String, String> tags) {
    return new StatsdReport(source, config(1, format, tags, List.of()));
  }

  private static ServerSocket tcp() throws IOException {
    ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    server.setSoTimeout(300_000); // fails rather than waits without end
    return server;
  }

  private static String received(ServerSocket server) throws IOException {
    try (Socket socket = server.accept()) {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
