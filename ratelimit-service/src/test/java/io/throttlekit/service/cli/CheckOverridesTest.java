package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckOverridesTest {
  @TempDir private Path folder;

  private String file(String text) throws IOException {
    return Files.writeString(folder.resolve("overrides.yaml"), text).toString();
  }

  @Test
  void aValidFileOfOverridesIsClean() throws IOException {
    CommandResult ran =
        run("check", "--overrides", file("overrides: [{domain: '*', rate_limit: {tier: leased}}]"));
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).isEqualTo("0 errors, 0 warnings in 1 file\n");
  }

  @Test
  void everyMistakeOfAFileOfOverridesIsShown() throws IOException {
    String file = file("overrides: [{domain: d, rate_limit: {teir: leased, on_outage: alow}}]");
    CommandResult ran = run("check", "--overrides", file);
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.out())
        .startsWith(
            file
                + ":1:38: error: unknown key `teir` in the rate_limit of an override (did you mean"
                + " tier?)\n")
        .contains(":1:63: error: `alow` is not a value of `on_outage` (did you mean allow? ")
        .endsWith("2 errors, 0 warnings in 1 file\n");
  }

  @Test
  void eitherPoliciesOrOverridesAreNamed() throws IOException {
    assertThat(run("check").code()).isEqualTo(2);
    assertThat(run("check", "--overrides", file("overrides: []"), "policies").code()).isEqualTo(2);
    assertThat(run("check", "--overrides", folder.resolve("none").toString()).err())
        .startsWith("error: no such file: '" + folder.resolve("none") + "'");
  }
}
