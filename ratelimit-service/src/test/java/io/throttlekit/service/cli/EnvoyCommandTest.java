package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnvoyCommandTest {
  private static final String SHOP =
      """
      domain: shop
      descriptors:
        - key: user
          rate_limit: {unit: day, requests_per_unit: 2}
      """;

  @TempDir private Path folder;
  private String policies = "";

  @BeforeEach
  void write() throws IOException {
    Files.writeString(folder.resolve("a.yaml"), SHOP);
    Files.writeString(folder.resolve("b.yaml"), SHOP.replace("shop", "books"));
    policies = folder.toString();
  }

  @Test
  void printsTheActionsOfEachDomain() {
    CommandResult ran = run("envoy", "--policies", policies);
    assertThat(ran.code()).isZero();
    assertThat(ran.out())
        .startsWith("# Domain shop\nrate_limits:")
        .contains("\n---\n# Domain books\n")
        .contains("- request_headers: {header_name: x-user, descriptor_key: user} # a guess");
    assertThat(ran.err()).isEmpty();
  }

  @Test
  void sourcesOfTheCommandLineReplaceGuesses() {
    CommandResult ran =
        run("envoy", "--policies", policies, "--domain", "shop", "--header", "user=X-Account");
    assertThat(ran.out())
        .doesNotContain("books", "a guess")
        .contains("{header_name: x-account, descriptor_key: user}\n");
    assertThat(run("envoy", "--policies", policies, "--value", "user=all").out())
        .contains("generic_key: {descriptor_value: all, descriptor_key: user}");
  }

  /** Else the limit of the administrators would be one of all users, without a word. */
  @Test
  void aLoneValueThatAHeaderMayHaveIsAWarning() throws IOException {
    String lone =
        Files.writeString(
                folder.resolve("lone.yaml"),
                """
                domain: lone
                descriptors:
                  - key: user
                    value: admin
                    rate_limit: {requests_per_unit: 10, unit: second}
                  - key: generic_key
                    value: api
                    rate_limit: {requests_per_unit: 10, unit: second}
                """)
            .toString();
    CommandResult ran = run("envoy", "--policies", lone);
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("# a guess: every request counts as this; if a header has it, ");
    assertThat(ran.err())
        .isEqualTo(
            "warning: every request counts as `user` = `admin` ("
                + lone
                + ":3:5): name the header that has it with --header KEY=NAME, or keep it with"
                + " --value KEY=TEXT\n");
    assertThat(run("envoy", "--policies", lone, "--value", "user=admin").err()).isEmpty();
    assertThat(run("envoy", "--policies", lone, "--header", "user=x-user").err()).isEmpty();
  }

  @Test
  void withFilterItPrintsABootstrap() {
    CommandResult ran = run("envoy", "--policies", policies, "--filter");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("- name: throttlekit/shop", "- name: throttlekit/books");
    assertThat(run("envoy", "--policies", policies, "--filter", "--domain", "shop").out())
        .contains("- name: envoy.filters.http.ratelimit\n", "domain: shop\n");
  }

  @Test
  void wrongPoliciesAndDomainsExitWith1AndWrongUseWith2() throws IOException {
    CommandResult unknown = run("envoy", "--policies", policies, "--domain", "x");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err())
        .isEqualTo("error: the policies have no domain 'x', only: shop, books\n");
    assertThat(run("envoy", "--policies", policies, "--header", "user").code()).isEqualTo(2);
    assertThat(run("envoy", "--policies", policies, "--header", "=x").code()).isEqualTo(2);
    Files.writeString(folder.resolve("c.yaml"), "domain: c\ndescriptors: 1");
    CommandResult wrong = run("envoy", "--policies", policies);
    assertThat(wrong.code()).isEqualTo(1);
    assertThat(wrong.err()).contains("c.yaml:2:").endsWith("error: 1 error in the policies\n");
    assertThat(wrong.out()).isEmpty();
  }
}
