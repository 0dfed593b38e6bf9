package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the messages of {@code bin/throttlekit} without a build, in a copy of the project. */
@Tag("process")
class StartScriptTest {

  @TempDir private Path home;

  @BeforeEach
  void copyTheScripts() throws IOException {
    Path bin = Path.of("..", "bin");
    Files.createDirectories(home.resolve("bin/lib"));
    for (String script :
        List.of("throttlekit", "ratelimit", "lib/build.sh", "lib/aot.sh", "lib/sizing.sh")) {
      Files.copy(bin.resolve(script), home.resolve("bin").resolve(script));
    }
  }

  @Test
  void aCopyWithoutSourcesAndJarReportsWhichIsMissing() throws Exception {
    assertThat(run())
        .isEqualTo(
            "throttlekit: there is no ratelimit-service jar in %s/ratelimit-service/target: build it with 'mvn -DskipTests package', or copy it there with its lib folder\n"
                .formatted(home.toRealPath()));
  }

  @Test
  void ratelimitServes() throws Exception {
    Files.writeString(home.resolve("bin/throttlekit"), "#!/bin/sh\necho \"[$@]\"\n");
    Process process =
        new ProcessBuilder(home.resolve("bin/ratelimit").toString())
            .redirectErrorStream(true)
            .start();
    assertThat(process.inputReader().readLine()).isEqualTo("[serve]");
  }

  @Test
  void aFailedBuildIsReported() throws Exception {
    maven("echo BROKEN; exit 1");
    assertThat(run())
        .contains("BROKEN\n")
        .endsWith(
            "throttlekit: the build failed, so there is nothing to run; what Maven says is above\n")
        .doesNotContain("*");
  }

  @Test
  void aBuildPrintsNoEscapeSequences() throws Exception {
    maven("echo \"[$MAVEN_OPTS]\" \"$@\"; exit 1");
    assertThat(run()).contains("-Djansi.noreset=true]", "-Dstyle.color=never");
  }

  @Test
  void aBuildWithoutItsJarIsRepeated() throws Exception {
    Path target = home.resolve("ratelimit-service/target");
    Files.createDirectories(target.resolve("lib"));
    Files.createFile(target.resolve(".built"));
    maven(
        "echo BUILDING; mkdir -p throttlekit/target coordinator-redis/target"
            + " coordinator-postgres/target descriptors/target envoy-config/target"
            + " http2-client/target");
    assertThat(run()).contains("BUILDING\n").contains("there is no ratelimit-service jar in");
  }

  /** Puts a fake Maven on the path of a project that has sources. */
  private void maven(String script) throws IOException {
    Files.createFile(home.resolve("pom.xml"));
    Path mvn = Files.writeString(home.resolve("mvn"), "#!/bin/sh\n" + script + "\n");
    assertThat(mvn.toFile().setExecutable(true)).isTrue();
  }

  private String run() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("bash", home.resolve("bin/throttlekit").toString(), "--version");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().merge("PATH", home.toString(), (path, first) -> first + ":" + path);
    builder.redirectErrorStream(true);
    Process process = builder.start();
    String written = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(written).isEqualTo(1);
    return written;
  }
}
