package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

  /** All examples in one bootstrap: every kind of part, for the time of one start. */
  @Nested
  @RealEnvoy
  class WithEnvoy {
    @TempDir Path folder;

    @Test
    void envoyAcceptsTheBootstrapOfAllExamples() throws IOException {
      List<FilterActions> all = new ArrayList<>();
      for (EnvoyExample example : EnvoyExample.values()) {
        all.add(actions(example));
      }
      all.add(FilterActions.of(odd(), "odd", Map.of()));
      assertThat(
              EnvoyProcess.validate(EnvoyProgram.path(), new FilterText(all).bootstrap(), folder))
          .isEmpty();
    }

    private static PolicyBook odd() {
      return Policies.book(
          "odd\n- x: 1.yaml", // a name that would end a comment
          """
          domain: odd
          descriptors:
            - {key: generic_key, value: "yes", rate_limit: &one {unit: day, requests_per_unit: 1}}
            - {key: "a: #'\\n", value: "v\\n\\"x\\" \\u2028 \\\\ é 😀", rate_limit: *one}
            - {key: "a*", rate_limit: *one}
            - {key: masked_remote_address, value: "2001:db8::/32", rate_limit: *one}
            - {key: up, value: "../ä", concurrency: {}}
            - {key: up, value: b, rate_limit: *one}
          """);
    }
  }

  private static FilterActions actions(EnvoyExample example) {
    PolicyBook book = Policies.book(example.fileName() + ".yaml", example.policy());
    return FilterActions.of(book, example.fileName(), Map.of());
  }

  private static void matches(String file, String text) throws IOException {
    Path expected = FILES.resolve(file);
    if (Boolean.getBoolean("filter.write")) {
      Files.writeString(expected, text);
    }
    assertThat(text).isEqualTo(Files.readString(expected));
  }
}
