package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.EnvoyExample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares the text for documented examples with files. With {@code -Dfilter.write=true} the test
 * writes the files instead.
 */
class FilterTextTest {
  private static final Path FILES =
      Path.of(
          Objects.requireNonNull(System.getProperty("throttlekit.root")),
          "envoy-config/src/test/resources/io/throttlekit/envoy/filter");

  @ParameterizedTest
  @EnumSource(
      names = {
        "PER_ROUTE",
        "FAIR_SHARES",
        "FILTER_FROM_POLICIES",
        "CONCURRENCY_LIMIT",
        "CONCURRENCY_LEASES",
        "EXT_AUTHZ"
      })
  void thePartsOfAnExampleAreThoseOfItsFile(EnvoyExample example) throws IOException {
    matches(example.fileName() + ".parts.yaml", new FilterText(List.of(actions(example))).parts());
  }

  @Test
  void theBootstrapIsThatOfItsFile() throws IOException {
    matches(
        "per-route.bootstrap.yaml",
        new FilterText(List.of(actions(EnvoyExample.PER_ROUTE))).bootstrap());
  }

  /** Otherwise the limits of these clusters limit nothing. */
  @Test
  void theBootstrapRoutesToAClusterWithAConcurrencyLimit() throws IOException {
    PolicyBook book =
        Policies.book(
            "shop.yaml",
            """
            domain: shop
            descriptors:
              - {key: a, concurrency: {gate: envoy, cluster: payments, max: 40}}
              - {key: b, concurrency: {gate: envoy, cluster: orders, max: 40}}
            """);
    String text = new FilterText(List.of(FilterActions.of(book, "shop", Map.of()))).bootstrap();
    assertThat(text)
        .contains("route: {cluster: payments}", "# Add routes to the other clusters", "orders")
        .doesNotContain("upstream}", "- name: upstream");
  }

  static FilterActions actions(EnvoyExample example) {
    PolicyBook book = Policies.book(example.fileName() + ".yaml", example.policy());
    return FilterActions.of(book, example.fileName(), Map.of());
  }

  private static void matches(String file, String text) throws IOException {
    Path expected = FILES.resolve(file);
    if (Boolean.getBoolean("filter.write")) {
      Files.writeString(expected, text);
    }
    assertThat(expected).hasContent(text); // as a file: prints the lines that differ
  }
}
