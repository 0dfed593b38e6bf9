package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Severity;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Tests the policies of rls-cases.json, which envoyproxy/ratelimit loads. */
class OriginalPoliciesTest {

  static Stream<Arguments> configs() throws IOException {
    try (InputStream in = OriginalPoliciesTest.class.getResourceAsStream("/rls-cases.json")) {
      assertThat(in).isNotNull();
      // JSON is YAML too.
      Map<?, ?> cases =
          (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromInputStream(in);
      Map<String, String> configs = new LinkedHashMap<>();
      ((Map<?, ?>) Objects.requireNonNull(cases.get("configs")))
          .forEach((name, text) -> configs.put((String) name, (String) text));
      assertThat(configs).hasSizeGreaterThanOrEqualTo(7);
      return configs.entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void loadWithoutAnyError(String name, String text) {
    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(List.of(new PolicySource(name, text)));

    assertThat(result.problems()).noneMatch(problem -> problem.severity() == Severity.ERROR);
    assertThat(Objects.requireNonNull(result.book()).rules()).isNotEmpty();
  }
}
