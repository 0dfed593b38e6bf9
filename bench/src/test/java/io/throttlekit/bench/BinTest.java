package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the programs of {@code bin/}, copied to a folder where nothing is to be built. */
@Tag("process")
class BinTest {
  private static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  @TempDir private Path folder;
  private Path home = Path.of("");

  private record Ended(int code, String out, String errors) {}

  @BeforeEach
  void copy() throws IOException {
    home = folder.toRealPath().resolve("home of it"); // with blanks, as in users' folders
    try (Stream<Path> files = Files.walk(Path.of("..", "bin"))) {
      for (Path file : files.toList()) {
        Files.copy(
            file, Files.createDirectories(home).resolve(Path.of("..").relativize(file).toString()));
      }
    }
    Path target = Files.createDirectories(home.resolve("bench").resolve("target"));
    Files.writeString(target.resolve("class-path.txt"), CLASS_PATH);
  }

  @ParameterizedTest
  @CsvSource({
    "bench, load --rate fast, 2, 'bin/bench: --rate is a number from 0 to 2147483647, not fast'",
    "bench, nothing, 2, 'bin/bench: no command nothing: service, store, startup, jmh, sensors,"
        + " leases, concurrency, fairness, overload, overload-service, federation, chaos, failover,"
        + " path, load or all; --help says more'",
    "bench, --overlod, 2, 'bin/bench: no command --overlod (did you mean overload?): service,"
        + " store, startup, jmh, sensors, leases, concurrency, fairness, overload,"
        + " overload-service, federation, chaos, failover, path, load or all; --help says more'",
    "bench, all of it, 2, 'bin/bench: all takes no arguments, but got of it'",
    "throttlekit, serve, 1, 'throttlekit: there is no ratelimit-service jar in"
        + " HOME/ratelimit-service/target: build it with ''mvn -DskipTests package'', or copy it"
        + " there with its lib folder'"
  })
  void aUsageErrorIsOneLineAlsoThroughALinkToALink(
      String program, String arguments, int code, String line) throws Exception {
    Path link = link(program);
    Ended ended = run(link, arguments.replaceFirst("^load", "load 127.0.0.1:1").split(" "));
    assertThat(ended.errors()).isEqualTo(line.replace("HOME", home.toString()) + "\n");
    assertThat(ended.code()).isEqualTo(code);
    assertThat(ended.out()).isEmpty();
  }

  private Path link(String program) throws IOException {
    Path absolute =
        Files.createSymbolicLink(folder.resolve("one"), home.resolve("bin").resolve(program));
    return Files.createSymbolicLink(
        Files.createDirectory(folder.resolve("path")).resolve(program),
        Path.of("..").resolve(absolute.getFileName()));
  }

  private Ended run(Path program, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("out");
    Path errors = folder.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(errors.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    int code = builder.start().waitFor();
    return new Ended(code, Files.readString(out), Files.readString(errors));
  }
}
