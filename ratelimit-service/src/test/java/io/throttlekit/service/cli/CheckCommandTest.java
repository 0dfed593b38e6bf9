package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CheckCommandTest {
  @TempDir private Path folder;
  private Path file = Path.of("");

  @BeforeEach
  void nameTheFile() {
    file = folder.resolve("policy.yaml");
  }

  @ParameterizedTest
  @ValueSource(strings = {"domain: shop\n", "domain: shop\ndescriptors: [{key: user}]\n"})
  void filesWithoutARuleAreAnError(String policy) throws IOException {
    Files.writeString(file, policy);
    CommandResult ran = run("check", file.toString());
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out())
        .contains(": warning: domain `shop` has no ")
        .endsWith(
            file
                + ": error: there is no rule: nothing would be limited (add rate_limit, limits or"
                + " concurrency to a descriptor)\n1 error, 1 warning in 1 file\n");
    CommandResult json = run("check", "--json", file.toString());
    assertThat(json.code()).isEqualTo(1);
    assertThat(json.out()).startsWith("{\"ok\":false,\"files\":1,\"errors\":1,\"warnings\":1,");
  }

  @Test
  void aDomainWithoutRulesBesideOneWithRulesIsAWarning() throws IOException {
    Files.writeString(folder.resolve("empty.yaml"), "domain: empty\n");
    Files.writeString(
        file,
        "domain: shop\ndescriptors: [{key: u, rate_limit: {unit: day, requests_per_unit: 1}}]\n");
    assertThat(run("check", folder.toString()).code()).isZero();
    assertThat(run("check", folder.toString()).out())
        .endsWith("ok: 0 errors, 1 warning in 2 files; 1 rule in 2 domains\n");
  }

  @Test
  void strictMakesWarningsErrors() throws IOException {
    Files.writeString(
        file,
        "domain: shop\ndescriptors: [{key: u, rate_limit: {unit: month, requests_per_unit: 1}}]\n");
    assertThat(run("check", file.toString()).code()).isZero();
    CommandResult strict = run("check", "--strict", file.toString());
    assertThat(strict.code()).isEqualTo(1);
    assertThat(strict.out())
        .endsWith("\nnot ok with --strict: 0 errors, 1 warning in 1 file; 1 rule in 1 domain\n");
    assertThat(run("check", "--strict", "--json", file.toString()).out())
        .startsWith("{\"ok\":false,\"files\":1,\"errors\":0,\"warnings\":1,");
    Files.writeString(file, Files.readString(file).replace("unit: month", "every: 30d"));
    assertThat(run("check", "--strict", file.toString()).code()).isZero();
  }
}
