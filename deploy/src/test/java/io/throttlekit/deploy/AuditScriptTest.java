package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code deploy/image/audit}, with a scanner that only ends with an exit code. */
class AuditScriptTest {
  @TempDir private Path folder;

  private record Ended(int exitCode, String output) {}

  @BeforeEach
  void writeAnSbom() throws IOException {
    Files.writeString(folder.resolve("sbom.cdx.json"), "{}");
  }

  @Test
  void namesWhatIsMissing() throws Exception {
    assertThat(audit("none.cdx.json"))
        .isEqualTo(
            missing(
                "there is no SBOM none.cdx.json: 'mvn -Prelease package' writes it,"
                    + " but not with --offline"));
    String how = ": docs/RELEASING.md#known-vulnerabilities says how to get it";
    assertThat(audit("sbom.cdx.json"))
        .isEqualTo(missing("there is no database of vulnerabilities in database" + how));
    writeDatabase();
    assertThat(audit("sbom.cdx.json"))
        .isEqualTo(missing("there is no osv-scanner on the PATH" + how));
  }

  @Test
  void failsIfThereAreVulnerabilitiesOrTheScannerFails() throws Exception {
    writeDatabase();
    for (var expected : Map.of(0, 0, 1, 1, 128, 0, 127, 2).entrySet()) {
      Path scanner = folder.resolve("osv-scanner");
      Files.writeString(scanner, "#!/bin/sh\nexit %d\n".formatted(expected.getKey()));
      assertThat(scanner.toFile().setExecutable(true)).isTrue();
      assertThat(audit("sbom.cdx.json").exitCode())
          .as("after %d", expected.getKey())
          .isEqualTo(expected.getValue());
    }
  }

  private static Ended missing(String message) {
    return new Ended(2, "audit: " + message + "\n");
  }

  private void writeDatabase() throws IOException {
    Path maven = Files.createDirectories(folder.resolve("database/osv/Maven"));
    Files.writeString(maven.resolve("all.zip"), "a");
  }

  private Ended audit(String sbom) throws IOException, InterruptedException {
    Path script = Path.of("image", "audit").toAbsolutePath();
    ProcessBuilder builder =
        new ProcessBuilder(script.toString(), sbom, "database")
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.environment().put("PATH", folder + ":/usr/bin:/bin");
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), output);
  }
}
