package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.throttlekit.descriptors.load.Loading;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.envoy.ratelimit.RateLimitPolicy;
import io.throttlekit.envoy.ratelimit.RateLimitUnit;
import io.throttlekit.service.Logged;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every field of the message has the effect that it has in a file. */
class SentFieldsTest {
  private final ControlPlaneFixture service = new ControlPlaneFixture();

  private Rule only(String fields) {
    assertThat(service.receiveDomain("descriptors { key: 'k' " + fields + " }")).isEmpty();
    return service.book().rules().getFirst();
  }

  static Stream<RateLimitUnit> units() {
    return Arrays.stream(RateLimitUnit.values())
        .filter(unit -> unit != RateLimitUnit.UNKNOWN && unit != RateLimitUnit.UNRECOGNIZED);
  }

  @ParameterizedTest
  @MethodSource("units")
  void everyUnitIsThatOfAFile(RateLimitUnit unit) {
    Rule sent = only("rate_limit { unit: " + unit + " requests_per_unit: 7 }");
    String word = unit.name().toLowerCase(Locale.ROOT);
    Rule read =
        Loading.onlyRule(
            "domain: d\ndescriptors: [{key: k, rate_limit: {unit: "
                + word
                + ", requests_per_unit: 7}}]\n");
    assertThat(sent.limits()).isEqualTo(read.limits());
  }

  @Test
  void thereAreTestsOfAllUnits() {
    assertThat(units()).hasSize(7);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1", "-1, 4294967295"})
  void theLimitIsAnUnsignedNumber(int sent, long limit) {
    RateLimitDescriptor descriptor =
        RateLimitDescriptor.newBuilder()
            .setKey("k")
            .setRateLimit(
                RateLimitPolicy.newBuilder().setUnit(RateLimitUnit.DAY).setRequestsPerUnit(sent))
            .build();
    service.receive("1", List.of(config(descriptor)));
    assertThat(service.book().rules().getFirst().limits().getFirst().requestsPerUnit())
        .isEqualTo(limit);
  }

  @Test
  void unlimitedNeedsNoUnit() {
    Rule rule = only("rate_limit { unlimited: true }");
    assertThat(rule.unlimited()).isTrue();
    assertThat(service.problems()).isEmpty();
  }

  @Test
  void namesAndReplacementsConnectRules() {
    service.receiveDomain(
        """
        descriptors { key: 'a' rate_limit { unit: HOUR requests_per_unit: 1 name: 'small' } }
        descriptors {
          key: 'b'
          rate_limit { unit: HOUR requests_per_unit: 9 name: 'big' replaces { name: 'small' } }
        }
        """);
    assertThat(service.problems()).isEmpty();
    Rule big = Objects.requireNonNull(service.rule("d", "b", "x"));
    assertThat(big.name()).isEqualTo("big");
    assertThat(big.replaces()).containsExactly("small");
  }

  @Test
  void modesAndDetailedMetricsAreThoseOfTheRule() {
    String limit = "rate_limit { unit: HOUR requests_per_unit: 1 } ";
    assertThat(only(limit + "shadow_mode: true").shadow()).isTrue();
    assertThat(only(limit + "quota_mode: true").quota()).isTrue();
    assertThat(only(limit + "detailed_metric: true").dynamicMetricKeys()).isTrue();
    Rule plain = only(limit);
    assertThat(plain.shadow() || plain.quota() || plain.dynamicMetricKeys()).isFalse();
  }

  @Test
  void metadataHasTheTypesOfJson() {
    Rule rule =
        only(
            """
            rate_limit { unit: HOUR requests_per_unit: 1 }
            metadata {
              fields { key: 'text' value { string_value: '007' } }
              fields { key: 'whole' value { number_value: 8 } }
              fields { key: 'half' value { number_value: 1.5 } }
              fields { key: 'yes' value { bool_value: true } }
              fields { key: 'list' value { list_value { values { string_value: 'a' } } } }
              fields { key: 'map' value { struct_value { fields { key: 'k' value { number_value: -2 } } } } }
            }
            """);
    assertThat(Objects.requireNonNull(rule.metadata()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "text",
                "007",
                "whole",
                8L,
                "half",
                1.5,
                "yes",
                true,
                "list",
                List.of("a"),
                "map",
                Map.of("k", -2L)));
  }

  @Test
  void aKeyThatLooksLikeANumberOrABooleanIsAText() {
    service.receiveDomain(
        "descriptors { key: '010' value: 'yes' rate_limit { unit: HOUR requests_per_unit: 1 } }");
    assertThat(service.problems()).isEmpty();
    assertThat(service.rule("d", "010", "yes")).isNotNull();
    assertThat(service.rule("d", "8", "true")).isNull();
  }

  @Test
  void fieldsThatThisVersionDoesNotKnowAreNamedOnce() {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(9, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();
    RateLimitDescriptor.Builder one =
        RateLimitDescriptor.newBuilder()
            .setRateLimit(
                RateLimitPolicy.newBuilder().setUnit(RateLimitUnit.DAY).setRequestsPerUnit(3))
            .setUnknownFields(unknown);
    try (Logged logged = Logged.by(XdsPolicies.class)) {
      service.receive("1", List.of(config(one.setKey("a").build(), one.setKey("b").build())));
      service.receive("2", List.of(config(one.setKey("a").build(), one.setKey("c").build())));
      String warning =
          "xds d: a: warning: this version does not know the field 9 of RateLimitDescriptor (it has"
              + " no effect)";
      assertThat(service.problems()).containsExactly(warning);
      assertThat(logged.lines()).containsOnlyOnce("WARNING " + warning);
    }
    assertThat(service.rules()).hasSize(2);
  }

  @Test
  void textsFromTheControlPlaneDoNotBreakLines() {
    service.receiveDomain("descriptors { key: 'a\\nb\\033[31m' rate_limit { unit: 99 } }");
    assertThat(service.problems().getFirst())
        .startsWith("xds d: a\uFFFDb\uFFFD[31m: error: `99` is not a value of `unit`");
  }

  @Test
  void aLongPathIsShortened() {
    String key = "x".repeat(1_000);
    String nested = "rate_limit {}";
    for (int i = 0; i < 10; i++) {
      nested = "descriptors { key: '" + key + i + "' " + nested + " }";
    }
    String answer = service.receiveDomain(nested);
    assertThat(answer).hasSizeLessThan(700).contains("xds d: …", "xxx…: the limit needs a window");
  }

  private static Any config(RateLimitDescriptor... descriptors) {
    return Any.pack(
        RateLimitConfig.newBuilder()
            .setName("d")
            .setDomain("d")
            .addAllDescriptors(List.of(descriptors))
            .build());
  }

  @Test
  void aResourceOfAnotherTypeIsAMistake() {
    Any other =
        Any.newBuilder().setTypeUrl("type.googleapis.com/x.Y").setValue(ByteString.EMPTY).build();
    assertThat(service.receive("1", List.of(other)))
        .isEqualTo(
            "1 error: xds resource 1: the resource is no RateLimitConfig, but"
                + " `type.googleapis.com/x.Y`");
  }
}
