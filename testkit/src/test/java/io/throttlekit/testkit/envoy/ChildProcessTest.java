package io.throttlekit.testkit.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {
  private static final Duration LONG = Duration.ofMinutes(4);
  private static final Duration SHORT = Duration.ofMillis(200);

  @TempDir Path folder;

  @Test
  void waitsForALineAndEndsTheProgram() throws IOException {
    ChildProcess child = shell("echo ready port=$PORT; exec sleep 60");
    assertThat(child.awaitLog(Pattern.compile("port=(\\d+)"), LONG).group(1)).isEqualTo("8081");
    child.close();
    child.close();
    assertThat(child.exitCode()).isEqualTo(128 + 15);
    assertThat(ProcessHandle.of(child.pid()).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void failsWithTheLogWhenTheProgramEndsFirst() throws IOException {
    try (ChildProcess child = shell("echo no such policy >&2; exit 3")) {
      assertThatThrownBy(() -> child.awaitLog(Pattern.compile("ready"), LONG))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("ended with code 3", "no such policy");
    }
  }

  @Test
  void failsWithTheLogWhenNothingComes() throws IOException {
    try (ChildProcess child = shell("echo starting; exec sleep 60")) {
      assertThatThrownBy(() -> child.awaitLog(Pattern.compile("ready"), Duration.ofMillis(500)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("not ready after 0 s");
    }
  }

  @Test
  void aSuspendedProgramDoesNothingUntilItIsResumed() throws IOException {
    Path counted = folder.resolve("counted");
    try (ChildProcess child =
        shell("i=0; while :; do i=$((i+1)); echo $i >>" + counted + "; sleep 0.01; done")) {
      child.await(() -> Files.exists(counted), LONG);
      child.suspend();
      long before = Files.size(counted);
      assertThatThrownBy(() -> child.await(() -> Files.size(counted) > before, SHORT))
          .hasMessageContaining("not ready");
      child.resume();
      child.await(() -> Files.size(counted) > before, LONG);
    }
  }

  @Test
  void aSuspendedProgramCanBeKilled() throws IOException {
    ChildProcess child = shell("trap '' TERM; echo ready; while :; do :; done");
    var _ = child.awaitLog(Pattern.compile("ready"), LONG);
    child.suspend();
    child.kill();
    assertThat(child.exitCode()).isEqualTo(128 + 9);
    child.close();
  }

  private ChildProcess shell(String script) throws IOException {
    return ChildProcess.start(
        List.of("/bin/sh", "-c", script), Map.of("PORT", "8081"), folder.resolve("log"));
  }
}
