package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.ProgramHome;
import io.throttlekit.bench.command.ProgramHome.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code bin/throttlekit} without sources, as in the service's image. */
@Tag("process")
class RuntimeImageTest {
  @TempDir private Path folder;

  @Test
  void runsOnARuntimeThatCannotCompile() throws Exception {
    ProgramHome program = ProgramHome.in(folder);
    Path jar = program.jar();
    Files.delete(folder.toRealPath().resolve("jdk/bin/javac"));
    Ended ended = program.run("check", "some.yaml");
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").contains(jar + " check some.yaml");
    assertThat(ended.code()).isZero();
  }
}
