package io.throttlekit.service.concurrency.sensors;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentIdsTest {

  @Test
  void evictsTheOldestIdsBeyondItsCapacity() {
    RecentIds recent = new RecentIds(160);
    for (int i = 0; i < 160; i++) { // an integer is its own hash: ten for each of the 16 sets
      assertThat(recent.isNew(i)).isTrue();
    }
    for (int i = 0; i < 160; i++) {
      assertThat(recent.isNew(i)).isFalse();
    }
    assertThat(recent.isNew(160)).isTrue();
    assertThat(recent.isNew(0)).as("in the set of 160, and its oldest").isTrue();
    assertThat(recent.isNew(159)).isFalse();
  }
}
