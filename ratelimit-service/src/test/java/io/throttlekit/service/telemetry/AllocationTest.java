package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class AllocationTest {
  private static final int CALLS = 20_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void countingADecisionOfARuleWithAFixedNameAllocatesNothing() {
    try (MetricsFixture fixture =
        MetricsFixture.of(
            """
            domain: d
            descriptors:
              - {key: user, rate_limit: {unit: day, requests_per_unit: 10}}
            """)) {
      Rule rule = fixture.policies.match("d", "user", "anna");
      String[] entries = {"user", "anna"};
      Decision admitted = Decision.admit(10, 1, 0);
      Decision refused = Decision.refuse(10, -1, 0, 1);

      assertThat(allocatedBy(() -> fixture.metrics.decided(rule, entries, 1, admitted, false)))
          .isZero();
      assertThat(allocatedBy(() -> fixture.metrics.decided(rule, entries, 1, refused, true)))
          .isZero();
      assertThat(allocatedBy(() -> fixture.metrics.answered(300_000))).isLessThanOrEqualTo(CALLS);
    }
  }

  /** Returns the bytes that {@value #CALLS} calls allocate, once warm. */
  private long allocatedBy(Runnable call) {
    repeat(call);
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      repeat(call);
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  private static void repeat(Runnable call) {
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
  }
}
