package io.throttlekit.service.telemetry.refusals;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.telemetry.refusals.TopRefusals.Refused;
import org.junit.jupiter.api.Test;

class TopRefusalsTest {
  private final TopRefusals refusals = new TopRefusals();

  @Test
  void memoryIsBoundedAndNoNumberIsTooLarge() {
    for (int i = 0; i < 5_000; i++) {
      refusals.add(refused("invented" + i, 1));
      if (i % 100 == 0) {
        refusals.add(refused("bob", 3));
      }
    }
    assertThat(refusals.all()).hasSize(TopRefusals.MAX_TRACKED);
    assertThat(TopRefusals.top(refusals.all(), 1))
        .singleElement()
        .satisfies(most -> {
          assertThat(most.key().descriptor()).isEqualTo("user=bob");
          assertThat(most.refusals()).isBetween(100L, 150L);
        });
    assertThat(refusals.all())
        .filteredOn(each -> !each.key().descriptor().equals("user=bob"))
        .allMatch(each -> each.refusals() == 1);
  }

  private static Refused refused(String user, long times) {
    return new Refused(new RefusedKey("d", "user", "user=" + user), times, 5, 1_000, false, 0);
  }
}
