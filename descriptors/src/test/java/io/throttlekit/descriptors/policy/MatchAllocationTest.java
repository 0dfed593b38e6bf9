package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.book;
import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class MatchAllocationTest {
  private static final int ROUNDS = 20_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final Level policies =
      Objects.requireNonNull(
          book(
                  "d",
                  key("user").value("bob").limit(1).of(),
                  key("path").value("/api/*/v*/x").of(key("method").limit(2).of()),
                  key("user").limit(3).of())
              .domain("d"));
  private final String[][] requests = {
    {"user", "bob"},
    {"user", "somebody else with a long name"},
    {"path", "/api/orders/v1/x", "method", "GET"},
    {"path", "/api/orders/w1/x", "method", "GET"},
    {"nobody", "knows"},
    {},
  };

  @Test
  void matchingAllocatesNothingOnAnyBranch() {
    assertThat(bytesOf(true)).as("the meter works").isGreaterThanOrEqualTo(16L * ROUNDS);
    bytesOf(false);
    assertThat(bytesOf(false)).as("bytes").isLessThan(ROUNDS); // below one byte a round: none
  }

  private long bytesOf(boolean allocating) {
    long before = threads.getCurrentThreadAllocatedBytes();
    int found = 0;
    for (int i = 0; i < ROUNDS; i++) {
      for (String[] request : requests) {
        String[] entries = allocating ? request.clone() : request;
        found += policies.match(entries) == null ? 0 : 1;
      }
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(found).isEqualTo(3 * ROUNDS);
    return bytes;
  }
}
