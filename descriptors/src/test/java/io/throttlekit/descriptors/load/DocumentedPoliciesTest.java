package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.descriptors.source.PolicySource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that policies in the documents load. */
class DocumentedPoliciesTest {
  private static final Pattern POLICY = Pattern.compile("```yaml\n(domain:.*?)```", Pattern.DOTALL);
  private static final Pattern OVERRIDES =
      Pattern.compile("```yaml\n(overrides:.*?)```", Pattern.DOTALL);
  private static final Pattern DESCRIPTORS =
      Pattern.compile("```yaml\n( *- key:.*?)```", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/POLICIES.md", "docs/ENVOY.md"})
  void loadWithoutWarnings(String document) throws IOException {
    Matcher shown = POLICY.matcher(read(document));
    assertThat(shown.find()).isTrue();
    do {
      load(document, shown.group(1));
    } while (shown.find());
  }

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/CONCURRENCY-LIMITS.md"})
  void loadAsPartsOfAPolicy(String document) throws IOException {
    Matcher shown = DESCRIPTORS.matcher(read(document));
    assertThat(shown.find()).isTrue();
    do {
      load(document, "domain: shown\ndescriptors:\n" + shown.group(1));
    } while (shown.find());
  }

  @Test
  void overridesAreValid() throws IOException {
    Matcher shown = OVERRIDES.matcher(read("docs/ENVOY-GATEWAY.md"));
    assertThat(shown.find()).isTrue();
    PolicySource source = new PolicySource("docs/ENVOY-GATEWAY.md", shown.group(1));
    assertThat(RuleOverrides.read(source, new LoadOptions(true)).problems()).isEmpty();
  }

  @Test
  void deployedPoliciesLoad() throws IOException {
    Path root = Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")));
    LoadResult result =
        new PolicyLoader(new LoadOptions(false))
            .load(
                PolicyFiles.read(
                        List.of(
                            root.resolve("deploy/mesh/policies"),
                            root.resolve("deploy/helm/throttlekit/files/example-policy.yaml")))
                    .whole());
    assertThat(result.problems()).isEmpty();
  }

  private static void load(String document, String policy) {
    LoadResult result =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource(document, policy)));
    assertThat(result.problems()).isEmpty();
  }

  private static String read(String document) throws IOException {
    Path root = Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")));
    return Files.readString(root.resolve(document));
  }
}
