package io.throttlekit.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class InMemoryRecordStoreTest extends RecordStoreConformance {
  private final ManualTime time = new ManualTime(1_700_000_000_000L);
  private final RecordStore shared = new InMemoryRecordStore(clock());

  @Override
  protected RecordStore open() {
    return shared;
  }

  @Test
  void expiredRecordsAreRemoved() {
    InMemoryRecordStore store = new InMemoryRecordStore(time);
    for (int i = 0; i < 10_000; i++) {
      CompletionStage<Boolean> done =
          store.update(
              "key " + i,
              Duration.ofMillis(10),
              (_, _) -> new RecordStore.Step<>(new byte[1], true));
      assertThat(done).isCompleted();
      time.advance(1);
    }
    assertThat(store.size()).isLessThan(200);
  }
}
