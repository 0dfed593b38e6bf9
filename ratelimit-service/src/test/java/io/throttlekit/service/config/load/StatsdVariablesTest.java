package io.throttlekit.service.config.load;

import static io.throttlekit.service.config.load.PeerEnvironmentTest.dropIn;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.StatsdConfig.Format;
import io.throttlekit.service.config.StatsdConfig.Protocol;
import io.throttlekit.service.config.StatsdConfig.Rewrite;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The variables of envoyproxy/ratelimit that select a statsd server and names for it. */
class StatsdVariablesTest {
  private static final Map<String, List<String>> OWN = Options.of("--policies", "own");

  @Test
  void statisticsGoToTheStatsdServerOfThePeersVariables() {
    assertThat(dropIn(Map.of()).telemetry().statsd()).isNull();
    assertThat(dropIn(Map.of("USE_STATSD", "true")).telemetry().statsd())
        .isEqualTo(statsd("localhost", 8125, Protocol.TCP, Format.STATSD, Map.of(), 10));
    assertThat(
            dropIn(
                    Map.of(
                        "STATSD_HOST", "stats.local",
                        "STATSD_PORT", "9125",
                        "STATSD_PROTOCOL", "udp",
                        "EXTRA_TAGS", "env:prod,zone:a",
                        "STATS_FLUSH_INTERVAL", "5s"))
                .telemetry()
                .statsd())
        .isEqualTo(
            statsd(
                "stats.local",
                9125,
                Protocol.UDP,
                Format.STATSD,
                Map.of("env", "prod", "zone", "a"),
                5));
    assertThat(dropIn(Map.of("USE_DOG_STATSD", "true")).telemetry().statsd())
        .isEqualTo(statsd("localhost", 8125, Protocol.UDP, Format.DOGSTATSD, Map.of(), 10));
  }

  @Test
  void statsdIsOffWhereAnotherSinkIsChosen() {
    for (String sink : List.of("USE_PROMETHEUS", "DISABLE_STATS")) {
      assertThat(dropIn(Map.of("STATSD_HOST", "a", sink, "true")).telemetry().statsd()).isNull();
    }
    assertThat(dropIn(Map.of("STATSD_HOST", "a", "USE_STATSD", "false")).telemetry().statsd())
        .isNull();
    assertThat(dropIn(Map.of("USE_STATSD", "true", "DISABLE_STATS", "true")).telemetry().statsd())
        .isNull();
    assertThat(dropIn(Map.of("USE_PROMETHEUS", "true", "DISABLE_STATS", "true")).telemetry())
        .matches(telemetry -> !telemetry.prometheus());
  }

  @Test
  void statsdVariablesWithoutStatsdAreNamedInWarnings() {
    assertThat(
            new ConfigLoader(Map.of("USE_STATSD", "false", "EXTRA_TAGS", "a:b"))
                .load(OWN)
                .warnings())
        .containsExactly(
            "telemetry.statsd.tags (env EXTRA_TAGS) has no effect: telemetry.statsd.enabled is"
                + " false");
  }

  private static StatsdConfig statsd(
      String host,
      int port,
      Protocol protocol,
      Format format,
      Map<String, String> tags,
      int seconds) {
    return new StatsdConfig(
        host, port, protocol, format, new TreeMap<>(tags), List.of(), Duration.ofSeconds(seconds));
  }

  @Test
  void mogrifiersRewriteNamesForDogStatsdInTheirOrder() {
    StatsdConfig statsd =
        Objects.requireNonNull(
            dropIn(
                    Map.of(
                        "USE_DOG_STATSD", "true",
                        "USE_DOG_STATSD_MOGRIFIERS", "HITS,pool",
                        "DOG_STATSD_MOGRIFIER_HITS_PATTERN", "^a b\\.(.*)\\.(.*)$",
                        "DOG_STATSD_MOGRIFIER_HITS_NAME", "hits.$2",
                        "DOG_STATSD_MOGRIFIER_HITS_TAGS", "domain:$1,kind:all",
                        "DOG_STATSD_MOGRIFIER_POOL_PATTERN", "pool",
                        "DOG_STATSD_MOGRIFIER_POOL_NAME", "pool"))
                .telemetry()
                .statsd());
    assertThat(statsd.rewrites())
        .containsExactly(
            new Rewrite(
                "^a\\x20b\\.(.*)\\.(.*)$",
                "hits.$2",
                new TreeMap<>(Map.of("domain", "$1", "kind", "all"))),
            new Rewrite("pool", "pool", new TreeMap<>()));
  }

  @Test
  void mogrifiersWithoutEffectAreNamedInWarnings() {
    LoadedConfig loaded =
        new ConfigLoader(
                Map.of(
                    "USE_STATSD", "true",
                    "USE_DOG_STATSD_MOGRIFIERS", "A",
                    "DOG_STATSD_MOGRIFIER_A_PATTERN", "a",
                    "DOG_STATSD_MOGRIFIER_A_NAME", "b",
                    "DOG_STATSD_MOGRIFIER_B_NAME", "c"))
            .load(OWN);
    assertThat(loaded.errors()).isEmpty();
    assertThat(loaded.warnings())
        .containsExactly(
            "set but without effect: DOG_STATSD_MOGRIFIER_B_NAME (USE_DOG_STATSD_MOGRIFIERS does"
                + " not name them)",
            "telemetry.statsd.rewrites (env USE_DOG_STATSD_MOGRIFIERS) has no effect:"
                + " telemetry.statsd.format is statsd");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "''; x; ''; needs DOG_STATSD_MOGRIFIER_A_PATTERN and DOG_STATSD_MOGRIFIER_A_NAME",
        "(; x; ''; is not a regular expression",
        "(.); x$2; ''; '$2 is in \"x$2\", but the pattern has 1 groups'",
        "(.); x; t:$2; the pattern has 1 groups",
        "(.); a|b; ''; is not the name of a statistic",
        "(.); x; 't:'; is not a tag",
        "(.); x y z; ''; each rule is PATTERN NAME"
      })
  void aMistakeInAMogrifierIsAnError(String pattern, String name, String tags, String problem) {
    LoadedConfig loaded =
        new ConfigLoader(
                Map.of(
                    "USE_DOG_STATSD", "true",
                    "USE_DOG_STATSD_MOGRIFIERS", "A",
                    "DOG_STATSD_MOGRIFIER_A_PATTERN", pattern,
                    "DOG_STATSD_MOGRIFIER_A_NAME", name,
                    "DOG_STATSD_MOGRIFIER_A_TAGS", tags))
            .load(OWN);
    assertThat(loaded.errors())
        .singleElement()
        .asString()
        .startsWith("env USE_DOG_STATSD_MOGRIFIERS: ")
        .contains(problem);
  }
}
