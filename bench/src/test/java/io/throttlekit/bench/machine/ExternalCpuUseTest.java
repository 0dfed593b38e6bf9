package io.throttlekit.bench.machine;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.machine.ExternalCpuUse.Machine;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ExternalCpuUseTest {

  @Test
  void othersUseIsTheBusyTimeNotSpentByOurProcesses() {
    Machine before = Machine.parse("cpu  100 10 20 500 5 1 2 3 0 0");
    Machine after = Machine.parse("cpu  160 20 40 600 5 1 2 13 0 0");
    assertThat(before).isEqualTo(new Machine(133, 641));
    assertThat(after.others(before, 60)).isEqualTo(.2);
    assertThat(after.others(before, 300)).isZero();
  }

  @Test
  void aFailedSampleLeavesTheShareUnknown() throws Exception {
    CountDownLatch samples = new CountDownLatch(3);
    Supplier<List<Long>> failing =
        () -> {
          samples.countDown();
          throw new IllegalStateException("no processes");
        };
    try (ExternalCpuUse use = new ExternalCpuUse(failing)) {
      assertThat(samples.await(5, MINUTES)).isTrue();
      assertThat(use.share()).isNaN();
    }
  }

  @Test
  void theNameOfAProgramMayHaveBlanksAndParentheses() {
    assertThat(ProcessUsage.ticks("7 (a) b (c) S 1 7 7 0 -1 4 5 6 7 8 30 12 40 50 20 0"))
        .isEqualTo(42);
  }
}
