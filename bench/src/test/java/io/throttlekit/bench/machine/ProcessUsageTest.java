package io.throttlekit.bench.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ProcessUsageTest {
  private static final String STAT =
      "4711 (a (strange) name) S 1 2 3 0 -1 4194560 100 0 0 0 250 50 7 9 20 0 30 0 12345 1 2";

  @Test
  void addsUserAndSystemTimeOfAProcessWithAnyName() {
    ProcessUsage usage = ProcessUsage.parse(STAT, List.of("Name:\tx", "VmRSS:\t  2048 kB"));
    assertThat(usage).isEqualTo(new ProcessUsage(3_000_000_000L, 2_097_152));
  }

  @Test
  void throwsIfTheProcessHasEnded() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ProcessUsage.parse(STAT, List.of("Name:\tx", "State:\tZ (zombie)")))
        .withMessageContaining("ended");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void readsARunningProcess() throws IOException {
    ProcessUsage usage = ProcessUsage.of(ProcessHandle.current().pid());
    assertThat(usage.cpuNanos()).isPositive();
    assertThat(usage.residentBytes()).isGreaterThan(1_000_000);
  }
}
