package io.throttlekit.descriptors.lint;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.Loading;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientWildcardsTest {
  private static final String LIMIT = "rate_limit: {requests_per_unit: 5, unit: second}";

  @Test
  void namesTheWildcardItsPlaceAndBothWaysOut() {
    assertThat(
            Loading.problems(
                """
                domain: shop
                descriptors:
                  - key: path
                    value: /search*
                    rate_limit: {requests_per_unit: 5, unit: second}
                """))
        .containsExactly(
            "a.yaml:4:12: warning: the wildcard `path_/search*` has one counter for each value that"
                + " it matches, and clients choose these: a client that varies it is not limited"
                + " (write share_threshold: true for one counter, or false if one for each value is"
                + " meant)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "path",
        ":path",
        "request_path",
        "requestPath",
        "path_without_query",
        "x-envoy-original-path",
        "url",
        "Request-URI",
        "query",
        "user-agent",
        "userAgent",
        "referer",
        "cookie",
      })
  void warnsOfKeysWhoseValuesClientsChoose(String key) {
    assertThat(ofWildcard(key, "a*")).hasSize(1);
    assertThat(ofWildcard(key, "*")).hasSize(1);
    assertThat(ofWildcard(key, "a")).isEmpty();
    assertThat(ofWildcard(key, "")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "user",
        "tenant",
        "api_key",
        "remote_address",
        "masked_remote_address",
        "source_cluster",
        "destination_cluster",
        "generic_key",
        "header_match",
        "query_match",
        "path_template",
        "path_pattern",
        "host",
        "method",
        "file",
        "pathology",
        "curl",
      })
  void acceptsOrdinaryWildcards(String key) {
    assertThat(ofWildcard(key, "a*")).isEmpty();
  }

  @Test
  void isSilentWhereThePolicySaysHowTheValuesShare() {
    for (String shared : List.of("true", "false")) {
      String said = "value: \"a*\", share_threshold: " + shared;
      assertThat(problems("{key: path, " + said + ", " + LIMIT + "}")).isEmpty();
    }
  }

  @Test
  void countsRulesBelowTheWildcardOnly() {
    String below = "{key: path, value: \"a*\", descriptors: [{key: user, %s}]}";
    assertThat(problems(below.formatted(LIMIT))).hasSize(1);
    assertThat(problems(below.formatted("rate_limit: {unlimited: true}"))).isEmpty();
    String above = "{key: user, %s, descriptors: [{key: path, value: \"a*\"}]}".formatted(LIMIT);
    assertThat(problems(above)).isEmpty();
  }

  @Test
  void knowsWhichConcurrencyLimitsCountByValue() {
    String limit = "{key: path, value: \"a*\", concurrency: %s}";
    assertThat(problems(limit.formatted("{}"))).hasSize(1);
    assertThat(problems(limit.formatted("{gate: envoy, cluster: c}"))).isEmpty();
  }

  private static List<String> ofWildcard(String key, String value) {
    return problems("{key: \"%s\", value: \"%s\", %s}".formatted(key, value, LIMIT));
  }

  private static List<String> problems(String descriptor) {
    return Loading.problems("domain: d\ndescriptors: [" + descriptor + "]\n");
  }
}
