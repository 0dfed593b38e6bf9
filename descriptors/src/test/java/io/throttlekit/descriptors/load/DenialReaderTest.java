package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.descriptors.policy.Denial;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DenialReaderTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rate_limit: {unit: day, requests_per_unit: 1}",
        "limits: [{unit: day, requests_per_unit: 1}]",
        "concurrency: {}"
      })
  void everyKindOfLimitMayHaveADenial(String limit) {
    String text = policy(limit, "status: 503, headers: {X-Why: a b, retry-after: 5}, body: no");
    assertThat(problems(text)).isEmpty();
    Denial denial = Objects.requireNonNull(onlyRule(text).denial());
    assertThat(denial)
        .isEqualTo(new Denial(503, Map.of("x-why", "a b", "retry-after", "5"), "no", null));
    assertThat(denial.headers().keySet()).containsExactly("x-why", "retry-after");
    assertThat(onlyRule(text).inWords()).endsWith(", denied with 503");
  }

  @Test
  void omittedFieldsAreLeftToTheService() {
    assertThat(onlyRule(policy("concurrency: {}", "")).denial())
        .isEqualTo(new Denial(0, Map.of(), null, null));
    assertThat(onlyRule("domain: d\ndescriptors: [{key: k, concurrency: {}}]\n").denial()).isNull();
  }

  @Test
  void metadataHasTheTypesOfJson() {
    Denial denial =
        Objects.requireNonNull(
            onlyRule(policy("concurrency: {}", "metadata: {a: [1, x], b: {c: true}}")).denial());
    assertThat(denial.metadata())
        .isEqualTo(Map.of("a", java.util.List.of(1L, "x"), "b", Map.of("c", true)));
  }

  @Test
  void onlyErrorStatusesOfEnvoyAreAccepted() {
    Set<Integer> accepted = new HashSet<>();
    for (int status = 0; status < 700; status++) {
      if (problems(policy("concurrency: {}", "status: " + status)).isEmpty()) {
        accepted.add(status);
      }
    }
    assertThat(accepted).isEqualTo(Denial.STATUSES).contains(429, 503).doesNotContain(200, 399);
    assertThat(accepted).allMatch(status -> status >= 400);
    assertThatThrownBy(() -> new Denial(200, Map.of(), null, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "content-length: 3",
        "Transfer-Encoding: chunked",
        "connection: close",
        "host: h",
        "':status': 200",
        "'a b': c",
        "'': c",
        "a: ''",
        "a: ~",
        "a: [b]",
        "a: \"b\\r\\nx: y\"",
        "a: ä",
        "A: b, a: c"
      })
  void headersThatCannotBeSentAreErrors(String header) {
    assertThat(problems(policy("concurrency: {}", "headers: {" + header + "}")))
        .singleElement()
        .asString()
        .contains("a.yaml:5:", " error: ");
  }

  private static String policy(String limit, String denied) {
    return """
    domain: d
    descriptors:
      - key: k
        %s
        denied: {%s}
    """
        .formatted(limit, denied);
  }
}
