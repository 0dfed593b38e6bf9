package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs TLC: in a process of its own, because it keeps what it read in static fields; with one
 * worker, so that what it answers is the same each time; with a bounded heap and time.
 */
final class Tlc {
  /** The folder of the modules and their configurations. */
  static final Path MODULES =
      Path.of(System.getProperty("throttlekit.root"), "spec", "src", "main", "tla");

  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();
  private static final Path ARCHIVE = MODULES.resolve(Path.of("../../../target/tlc.jsa"));
  private static final long MAX_SECONDS = 3_600;

  private final Path scratch;

  /** TLC with a folder that it may fill. */
  Tlc(Path scratch) {
    this.scratch = scratch;
  }

  /**
   * Checks a module.
   *
   * @throws IllegalStateException when TLC cannot read it, or takes too long
   */
  Verdict check(Configuration configuration) throws IOException, InterruptedException {
    Path run = Files.createTempDirectory(scratch, configuration.module());
    Path config = Files.writeString(run.resolve("checked.cfg"), configuration.text());
    Path output = run.resolve("output");
    Process tlc =
        new ProcessBuilder(command(run, config, configuration.module()))
            .directory(MODULES.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      if (!tlc.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("TLC took too long:\n" + Files.readString(output));
      }
    } finally {
      tlc.destroyForcibly();
    }
    return Verdict.of(Files.readString(output));
  }

  /** Checks that everything holds, in so many distinct states. */
  void assertHolds(Configuration configuration, long distinct)
      throws IOException, InterruptedException {
    Verdict verdict = check(configuration);
    assertThat(verdict.violated()).as(verdict.output()).isNull();
    assertThat(verdict.distinct()).isEqualTo(distinct);
  }

  /** Checks that this does not hold, and how many states the shortest way there has. */
  void assertRefuted(Configuration configuration, String violated, int states)
      throws IOException, InterruptedException {
    Verdict verdict = check(configuration);
    assertThat(verdict.violated()).isEqualTo(violated);
    assertThat(verdict.statesToViolation()).as(verdict.output()).isEqualTo(states);
  }

  private static List<String> command(Path run, Path config, String module) {
    return List.of(
        "nice", // so that models use what tests with real servers leave of the processors
        JAVA,
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1", // most runs are over before more would pay
        "-Xmx512m",
        "-XX:+AutoCreateSharedArchive", // loading TLC's classes is half of a small run
        "-XX:SharedArchiveFile=" + ARCHIVE,
        "-Xlog:disable", // another run may be replacing the archive, which is no error
        "-Djava.io.tmpdir=" + run, // where it unpacks its standard modules
        "-cp",
        jar().toString(),
        "tlc2.TLC",
        "-tool",
        "-nowarning",
        "-workers",
        "1",
        "-fp",
        "0",
        "-metadir",
        run.resolve("states").toString(),
        "-config",
        config.toString(),
        module);
  }

  private static Path jar() {
    return Path.of(tlc2.TLC.class.getProtectionDomain().getCodeSource().getLocation().getPath());
  }
}
