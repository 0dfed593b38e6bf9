package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run that proves nothing is never taken for one that does. */
@Tag("tlc")
class TlcTest {
  private static final Configuration BASELINE = Configuration.of("DistributedLeasing");

  @TempDir Path scratch;

  @Test
  void failsWithTlcsOutputIfItCannotCheck() {
    Tlc tlc = new Tlc(scratch);
    assertThatThrownBy(() -> tlc.check(BASELINE.invariants("Unknown")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("The invariant Unknown");
    assertThatThrownBy(() -> tlc.check(BASELINE.with("Batch", 0)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Assumption");
  }

  @Test
  void leavesTheModulesAsTheyWere() throws IOException, InterruptedException {
    List<String> before = files();
    new Tlc(scratch).check(BASELINE.invariants("OvershootTight"));
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void rejectsTheChangeOfAMissingLine() {
    assertThatThrownBy(() -> BASELINE.with("Bach", 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Bach");
  }

  private static List<String> files() throws IOException {
    try (var files = Files.list(Tlc.MODULES)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
