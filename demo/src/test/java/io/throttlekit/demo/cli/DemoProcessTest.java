package io.throttlekit.demo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoProcessTest {
  private static final Path SCRIPT = Path.of("..", "bin", "demo");

  @TempDir Path folder;

  /** A script without a project around it: it would end at once if it tried to build. */
  @Test
  void aMistypedFlagIsReportedBeforeAnythingIsBuilt() throws IOException, InterruptedException {
    assertRejected("there is no '--overlod' here (did you mean --overload?)", "--overlod");
    assertRejected("there is no 'mesh' here (did you mean --mesh?)", "mesh");
    assertRejected("there is no 'foo' here", "--seconds", "5", "foo");
  }

  private void assertRejected(String mistake, String... arguments)
      throws IOException, InterruptedException {
    Path bin = folder.resolve("bin");
    Files.createDirectories(bin.resolve("lib"));
    Path copy = bin.resolve("demo");
    Files.copy(SCRIPT, copy, StandardCopyOption.REPLACE_EXISTING);
    Files.copy(
        SCRIPT.resolveSibling("lib/build.sh"),
        bin.resolve("lib/build.sh"),
        StandardCopyOption.REPLACE_EXISTING);
    List<String> command = new ArrayList<>(List.of("bash", copy.toString()));
    command.addAll(List.of(arguments));
    Process script = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(printed).isEqualTo("bin/demo: " + mistake + "\nTry 'bin/demo --help'.\n");
    assertThat(script.waitFor()).isEqualTo(2);
  }

  @Test
  void theScriptHasEveryFlagOfTheProgram() throws IOException {
    String flags =
        Files.readAllLines(SCRIPT).stream()
            .filter(line -> line.startsWith("flags=("))
            .findFirst()
            .orElseThrow();
    List<String> known =
        List.of(flags.substring("flags=(".length(), flags.length() - 1).split(" "));
    List<String> visible =
        DemoMain.commandLine().getCommandSpec().options().stream()
            .filter(option -> !option.hidden())
            .flatMap(option -> Stream.of(option.names()))
            .toList();
    assertThat(known).containsExactlyInAnyOrderElementsOf(visible);
  }

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
