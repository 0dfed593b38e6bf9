package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.book;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.EntrySource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EntrySourceReaderTest {
  private static final String DESCRIPTORS =
      "descriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 1}}]\n";

  @Test
  void entriesOfAllFilesOfADomainNameTheirSources() {
    assertThat(
            book(
                    policy("user: {header: X-User-Id}, path: {header: ':path'}"),
                    "domain: d\n"
                        + "entries: {api: {value: all}, user: {header: x-user-id}}\n"
                        + "descriptors: []\n",
                    "domain: e\n" + DESCRIPTORS)
                .sources("d"))
        .isEqualTo(
            Map.of(
                "user", new EntrySource.Header("x-user-id"),
                "path", new EntrySource.Header(":path"),
                "api", new EntrySource.Constant("all")));
    assertThat(book("domain: e\n" + DESCRIPTORS).sources("e")).isEmpty();
    assertThat(book("domain: e\n" + DESCRIPTORS).descriptors("e")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "user: {}|the entry `user` needs either a header or a value",
        "user: {header: a, value: b}|the entry `user` needs either a header or a value",
        "user: {header: a b}|`a b` is not the name of a header",
        "user: x-user|`user` is a mapping",
        "user: {haeder: a}|unknown key `haeder`"
      })
  void mistakesAreReported(String entries, String message) {
    assertThat(problems(policy(entries))).anyMatch(problem -> problem.contains(message));
  }

  @Test
  void twoFilesMayNotNameDifferentSources() {
    assertThat(
            problems(
                policy("user: {header: a}"),
                "domain: d\nentries: {user: {header: b}}\ndescriptors: []\n"))
        .containsExactly(
            "b.yaml:2:11: error: the entry `user` has another source at a.yaml:2:11"
                + " (write the same in both, or remove one)");
  }

  private static String policy(String entries) {
    return "domain: d\nentries: {" + entries + "}\n" + DESCRIPTORS;
  }
}
