package io.throttlekit.demo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoProcessTest {
  @TempDir Path folder;

  @Test
  void anInvalidEnvoyBinIsRejected() throws IOException, InterruptedException {
    Path errors = folder.resolve("errors");
    ProcessBuilder demo =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                DemoMain.class.getName(),
                "--seconds",
                "1",
                "--json")
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(errors.toFile());
    demo.environment().put("ENVOY_BIN", "/nowhere/envoy");
    assertThat(demo.start().waitFor()).isEqualTo(2);
    assertThat(errors)
        .content()
        .isEqualTo(
            "bin/demo: ENVOY_BIN=/nowhere/envoy is not an executable file; correct it, or unset"
                + " ENVOY_BIN to use the pinned Envoy\n");
    assertThat(folder.resolve("out")).isEmptyFile();
  }
}
