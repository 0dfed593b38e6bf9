package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.source.PolicyFiles;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Severity;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the files of {@code policies/bad}, whose {@code # expect} comments list all of their
 * problems, in order.
 */
class BadPoliciesTest {
  private static final String EXPECT = "# expect ";
  private final PolicyLoader loader = new PolicyLoader(new LoadOptions(false));

  static List<PolicySource> badPolicies() throws IOException, URISyntaxException {
    URL folder = BadPoliciesTest.class.getResource("/policies/bad");
    return PolicyFiles.read(List.of(Path.of(Objects.requireNonNull(folder).toURI())))
        .whole()
        .stream()
        .map(s -> new PolicySource(Path.of(s.name()).toFile().getName(), s.text()))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("badPolicies")
  void reportsEveryProblemOfAFileWithItsLocationAndHint(PolicySource bad) {
    LoadResult result = loader.load(List.of(bad));

    assertThat(result.problems().stream().map(Problem::toString).toList())
        .isEqualTo(expected(bad).toList());
    assertThat(result.book() == null)
        .isEqualTo(result.problems().stream().anyMatch(p -> p.severity() == Severity.ERROR));
  }

  @Test
  void reportsAtLeastSixtyDifferentErrors() throws Exception {
    Stream<String> messages =
        badPolicies().stream()
            .flatMap(BadPoliciesTest::expected)
            .map(line -> line.replaceFirst("^[^:]*:\\d+:\\d+: ", ""));
    assertThat(messages.distinct()).hasSizeGreaterThanOrEqualTo(60);
  }

  @Test
  void reportsTenErrorsOfSeveralFilesInOneRun() throws Exception {
    List<PolicySource> ten =
        badPolicies().stream()
            .filter(s -> expected(s).count() == 1 && expected(s).allMatch(e -> e.contains("error")))
            .filter(s -> s.text().contains("rate_limit"))
            .limit(10)
            .toList();
    assertThat(ten).hasSize(10);
    List<PolicySource> distinctDomains =
        ten.stream()
            .map(s ->
                new PolicySource(s.name(), s.text().replace("domain: d", "domain: " + s.name())))
            .toList();

    LoadResult result = loader.load(distinctDomains);

    assertThat(result.book()).isNull();
    assertThat(result.problems().stream().map(Problem::toString))
        .containsExactlyElementsOf(ten.stream().flatMap(BadPoliciesTest::expected).toList());
  }

  private static Stream<String> expected(PolicySource bad) {
    return bad.text()
        .lines()
        .filter(line -> line.startsWith(EXPECT))
        .map(line -> bad.name() + ":" + line.substring(EXPECT.length()));
  }
}
