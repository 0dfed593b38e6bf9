package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.ProgramHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests when {@code bin/throttlekit} builds, in a project of sources and a Maven that only records
 * its calls.
 */
@Tag("process")
class UpToDateTest {
  private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
  private static final String COMPILED =
      "target/maven-status/maven-compiler-plugin/compile/default-compile/inputFiles.lst";
  private static final String[] MODULES = {
    "throttlekit",
    "coordinator-redis",
    "coordinator-postgres",
    "descriptors",
    "envoy-config",
    "http2-client",
    "ratelimit-service"
  };

  @TempDir private Path folder;
  private ProgramHome program = ProgramHome.NONE;
  private Path source = Path.of("");

  @BeforeEach
  void aProjectThatMavenBuilt() throws IOException {
    program = ProgramHome.in(folder);
    program.maven("echo BUILDING; exit 1");
    aged(program.home().resolve("pom.xml"), 0);
    for (String module : MODULES) {
      aged(program.home().resolve(module).resolve("pom.xml"), 0);
      source = aged(program.home().resolve(module).resolve("src/main/A.java"), 0);
      aged(program.home().resolve(module).resolve(COMPILED), 10);
    }
    at(program.jar(), 20);
  }

  @Test
  void aMavenBuildIsNotRepeated() throws Exception {
    ProgramHome.Ended ended = program.run("check");
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ");
  }

  @Test
  void aJarAndItsLibrariesNeedNoMaven() throws Exception {
    program.noMaven();
    for (String module : MODULES) {
      Files.delete(program.home().resolve(module).resolve(COMPILED));
    }
    ProgramHome.Ended ended = program.run("check");
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ");
  }

  @Test
  void anEditAfterTheCompilerIsBuiltAlsoWhenTheJarIsNewer() throws Exception {
    at(source, 15);
    assertThat(program.run("check").errors()).contains("BUILDING");
  }

  @Test
  void classesCompiledButNotPackagedAreRebuilt() throws Exception {
    at(program.home().resolve("descriptors").resolve(COMPILED), 30);
    assertThat(program.run("check").errors()).contains("BUILDING");
  }

  @Test
  void filesThatMavenLeftUntouchedDoNotTriggerAnotherBuild() throws Exception {
    at(source, 15);
    program.maven("exit 0");
    assertThat(program.run("check").out()).startsWith("run ");
    program.maven("echo BUILDING; exit 1");
    assertThat(program.run("check").errors()).isEmpty();
    at(source, 1_000_000_000);
    assertThat(program.run("check").errors()).contains("BUILDING");
  }

  @Test
  void withoutMavenTheExistingBuildRunsDespiteNewerSources() throws Exception {
    program.noMaven();
    at(source, 30);
    ProgramHome.Ended ended = program.run("check");
    assertThat(ended.errors())
        .isEqualTo(
            "throttlekit: the sources are newer than what runs now, and Maven is not on the PATH to"
                + " build it\n");
    assertThat(ended.out()).startsWith("run ");
  }

  @Test
  void anUnwritableFolderIsReportedInOneLine() throws Exception {
    Path target = program.home().resolve("ratelimit-service/target");
    Files.move(target, program.home().resolve("away"));
    Files.writeString(target, "not a folder");
    Files.writeString(program.home().resolve(".aot"), "not a folder");
    ProgramHome.Ended ended = program.run("check");
    assertThat(ended.errors())
        .isEqualTo(
            "throttlekit: there is nothing to run yet, and "
                + target
                + " cannot be written to build it: build it as its owner, with"
                + " 'mvn -DskipTests package'\n");
    assertThat(ended.code()).isEqualTo(1);
  }

  private static Path aged(Path file, long seconds) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "text");
    at(file.resolveSibling("."), seconds); // a folder's time shows that a file was deleted
    return at(file, seconds);
  }

  private static Path at(Path file, long seconds) throws IOException {
    return Files.setLastModifiedTime(file, FileTime.from(BEGINNING.plusSeconds(seconds)));
  }
}
