package io.throttlekit.descriptors;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies that the documents show are policies that load. */
class DocumentedPoliciesTest {
  private static final Pattern POLICY = Pattern.compile("```yaml\n(domain:.*?)```", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/POLICIES.md"})
  void loadWithoutAWord(String document) throws IOException {
    Path root = Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")));
    Matcher shown = POLICY.matcher(Files.readString(root.resolve(document)));
    assertThat(shown.find()).isTrue();
    do {
      LoadResult result =
          new PolicyLoader(new LoadOptions(true))
              .load(List.of(new PolicySource(document, shown.group(1))));
      assertThat(result.problems()).isEmpty();
    } while (shown.find());
  }
}
