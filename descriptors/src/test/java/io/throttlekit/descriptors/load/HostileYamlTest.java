package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.SourceText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that hostile YAML neither hangs nor overflows the stack; counts bound how much is read. */
@Tag("exploration")
@Tag("slow")
class HostileYamlTest {
  @Test
  void refusesAnAliasBombAtAHundredThousandNodes() {
    StringBuilder bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 60; i++) {
      bomb.append("a%d: &a%d [%s]\n".formatted(i, i, ("*a" + (i - 1) + ",").repeat(9)));
    }
    assertThat(problems(bomb.toString())).singleElement().asString().contains("100000 nodes");
  }

  @Test
  void refusesABombOfMergeKeysAtAHundredThousandNodes() {
    StringBuilder bomb = new StringBuilder("a0: &a0 {x: 1, y: 2}\n");
    for (int i = 1; i < 60; i++) {
      bomb.append("a%d: &a%d {<<: [%s]}\n".formatted(i, i, ("*a" + (i - 1) + ",").repeat(9)));
    }
    assertThat(problems(bomb.toString())).singleElement().asString().contains("100000 nodes");
  }

  @Test
  void allowsAliasesOfLargeNodes() {
    StringBuilder policy =
        new StringBuilder(
            """
            domain: d
            descriptors:
              - &limit {key: k, rate_limit: {unit: day, requests_per_unit: 1}}
            """);
    for (int i = 0; i < 5_000; i++) {
      policy.append("  - {<<: *limit, value: v").append(i).append("}\n");
    }
    assertThat(Loading.book(policy.toString()).rules()).hasSize(5_001);
  }

  @Test
  void mergesAHundredThousandRepeatedKeysOnASmallStack() throws Exception {
    for (String repeated :
        List.of("rate_limit: {unit: day, requests_per_unit: 1}", "metadata: {a: b}")) {
      String policy =
          "domain: d\ndescriptors:\n- key: k\n"
              + "  rate_limit: {unit: day, requests_per_unit: 2}\n"
              + ("  " + repeated + "\n").repeat(100_000);
      assertThat(onSmallStack(() -> Loading.book(policy).rules())).hasSize(1);
    }
  }

  @Test
  void mergesARateLimitFromAThousandMergeKeys() throws Exception {
    String policy =
        "domain: d\ndescriptors:\n- &a {key: k, rate_limit: {unit: day, requests_per_unit: 1}}\n"
            + "- key: l\n"
            + "  <<: *a\n".repeat(1_000)
            + "  key: m\n";
    assertThat(onSmallStack(() -> Loading.book(policy).rules()))
        .extracting(Rule::path)
        .containsExactly("k", "m");
  }

  @Test
  void staysFastWithManyKeysAndAnchorsOfOneHashCode() {
    int bits = 14;
    StringBuilder policy = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < 1 << bits; i++) {
      String text = colliding(i, bits);
      assertThat(text.hashCode()).isEqualTo(colliding(0, bits).hashCode());
      policy
          .append("- &")
          .append(text)
          .append(" {key: ")
          .append(text)
          .append(i % 1_000 == 0 ? ", rate_limit: {unit: day, requests_per_unit: 1}}\n" : "}\n");
    }
    assertTimeoutPreemptively(
        Duration.ofMinutes(4),
        () -> {
          PolicyBook book = Loading.book(policy.toString());
          for (int i = 0; i < 1 << bits; i++) {
            Rule rule = Loading.match(book, colliding(i, bits), "v");
            assertThat(rule == null ? "" : rule.path())
                .isEqualTo(i % 1_000 == 0 ? colliding(i, bits) : "");
          }
        });
  }

  /** Returns texts of one hash code, different for each number of {@code bits} bits. */
  private static String colliding(int number, int bits) {
    StringBuilder text = new StringBuilder();
    for (int bit = 0; bit < bits; bit++) {
      text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return text.toString();
  }

  private static <T> T onSmallStack(Callable<T> work) throws Exception {
    FutureTask<T> task = new FutureTask<>(work);
    new Thread(null, task, "small stack", 512 * 1024).start();
    return task.get();
  }

  @Test
  void countsTheDepthThatAnAliasAdds() {
    String deep = "[".repeat(100) + "]".repeat(100);
    String policy = "a: &a " + deep + "\nb: " + "[".repeat(100) + "*a" + "]".repeat(100) + "\n";
    assertThat(problems(policy))
        .singleElement()
        .asString()
        .startsWith("a.yaml:2:")
        .contains("nested too deeply");
  }

  @Test
  void allowsSixtyFourLevelsOfDescriptorsAndNotMore() {
    assertThat(Loading.book(nested(64)).rules()).hasSize(1);
    assertThat(problems(nested(65))).singleElement().asString().contains("nested too deeply");
  }

  @Test
  void refusesDeepNestingWithoutOverflow() {
    for (String opening : List.of("[", "{a: ", "- ", "? ", "[{a: ")) {
      assertThat(problems(opening.repeat(100_000))).singleElement().asString().contains("error");
    }
  }

  @Test
  void refusesAFileOfMoreThan16MiBAndNoSmaller() {
    String limit = "domain: d\n#" + "é".repeat((16 * 1024 * 1024 - 11) / 2);
    assertThat(limit.getBytes(StandardCharsets.UTF_8)).hasSize(16 * 1024 * 1024 - 1);
    assertThat(problems(limit + "x")).singleElement().asString().contains("nothing is limited");
    assertThat(problems(limit + "xx"))
        .containsExactly(
            "a.yaml:1:1: error: larger than 16 MiB (split it into several files and merge their"
                + " domains)");
  }

  @Test
  void reportsTheLocationOfInvalidUtf8() {
    byte[] bytes = {'d', ':', ' ', (byte) 0xC3, (byte) 0xA9, '\n', 'k', (byte) 0xFF, 'x'};
    String text = SourceText.decode(bytes);
    assertThat(problems(text))
        .containsExactly("a.yaml:2:2: error: not a text file in UTF-8 (save it as UTF-8)");
  }

  @Test
  void decodesEveryByteOfAnyInput() {
    byte[] every = new byte[512];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    assertThat(SourceText.decode(every)).hasSizeBetween(256, 512);
    assertThat(SourceText.decode("é😀".getBytes(StandardCharsets.UTF_8))).isEqualTo("é😀");
    assertThat(SourceText.decode("é😀".getBytes(StandardCharsets.UTF_16))).endsWith("é😀");
    byte[] cut = {'a', (byte) 0xF0, (byte) 0x9F};
    assertThat(SourceText.decode(cut)).isEqualTo("a\uDCF0\uDC9F");
  }

  @Test
  void stopsListingAfterAThousandProblems() {
    String many = "domain: d\ndescriptors:\n" + "  - {foo: 1, key: k}\n".repeat(5_000);
    List<String> problems = problems(many);
    assertThat(problems).hasSize(1_001);
    assertThat(problems).filteredOn(p -> p.contains("some are not shown")).hasSize(1);
  }

  @Test
  void showsAnErrorEvenBehindAThousandWarnings() {
    StringBuilder policy = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < 1_100; i++) {
      policy.append("  - {key: k").append(i).append(", name: x}\n");
    }
    policy.append("  - {kye: k}\n");
    assertThat(problems(policy.toString())).anyMatch(p -> p.contains("error: "));
  }

  @Test
  void readsALargeFile() {
    assertThat(problems(many(20_000, "k%d"))).isEmpty();
  }

  @Test
  void readsALevelOfManyWildcards() {
    assertThat(problems(many(20_000, "k%d-*")))
        .singleElement()
        .asString()
        .contains("too many wildcards to compare each with each");
  }

  @Test
  void refusesAFileOfMoreThanAMillionValues() {
    assertThat(problems("a: b\n".repeat(1_000_000)))
        .singleElement()
        .asString()
        .startsWith("a.yaml:500000:4: error: more than 1000000 values");
  }

  @Test
  void readsHugeTokens() {
    int size = 8 * 1024 * 1024;
    for (String domain :
        List.of("\"" + "x\\n".repeat(size / 3) + "\"", "|\n" + " x\n".repeat(size / 3))) {
      assertThat(problems("domain: " + domain))
          .singleElement()
          .asString()
          .contains("no descriptors");
    }
    assertThat(problems("domain: d\n" + "9".repeat(size) + ": 1\n")).hasSize(1);
    assertThat(problems(limitOf("9".repeat(size)))).hasSize(1);
  }

  private static String limitOf(String requests) {
    return "domain: d\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: "
        + requests
        + "}}]";
  }

  private static String many(int descriptors, String key) {
    StringBuilder policy = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < descriptors; i++) {
      policy
          .append("  - {key: \"")
          .append(key.formatted(i))
          .append("\", rate_limit: {unit: day, requests_per_unit: 1}}\n");
    }
    return policy.toString();
  }

  private static String nested(int levels) {
    StringBuilder policy = new StringBuilder("domain: d\n");
    for (int i = 0; i < levels; i++) {
      policy.append("  ".repeat(i)).append("descriptors:\n");
      policy.append("  ".repeat(i)).append("- key: k\n");
    }
    return policy
        .append("  ".repeat(levels))
        .append("rate_limit: {unit: day, requests_per_unit: 1}\n")
        .toString();
  }
}
