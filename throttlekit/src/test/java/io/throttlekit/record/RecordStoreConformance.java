package io.throttlekit.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.ManualTime;
import io.throttlekit.record.RecordStore.Step;
import io.throttlekit.record.RecordStore.Transition;
import io.throttlekit.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The behaviour of every {@link RecordStore}. */
public abstract class RecordStoreConformance {
  private static final long START = 1_700_000_000_000L;
  private static final Duration TIMEOUT = Duration.ofMinutes(4);
  private static final Duration KEPT = Duration.ofSeconds(10);
  private static final String KEY = "limits/checkout";
  private static final List<String> ODD =
      List.of(
          "",
          "\n 1 'quoted' \"\\ %s ?; {a:b} é ☃ 😀 \t\u0001\r\n",
          "a\0b",
          "a\0",
          "\ud800",
          "\udc00 low",
          "☃".repeat(20_000));

  private final ManualTime clock = new ManualTime(START);
  private final List<RecordStore> opened = new ArrayList<>();
  private RecordStore store;

  /** Opens a store of the data of the test, which other stores of the test share. */
  protected abstract RecordStore open();

  /** Removes all data before a test. */
  protected void empty() {}

  /** Returns the clock of the store. */
  protected final ManualTime clock() {
    return clock;
  }

  @BeforeEach
  void openStore() {
    empty();
    store = openOne();
  }

  @AfterEach
  void closeStores() {
    opened.forEach(RecordStore::close);
  }

  private RecordStore openOne() {
    RecordStore next = open();
    opened.add(next);
    return next;
  }

  private static <R> R join(CompletableFuture<R> stage) {
    return stage.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
  }

  private <R> R update(String key, Transition<R> transition) {
    return join(store.update(key, KEPT, transition).toCompletableFuture());
  }

  private byte @Nullable [] read(String key) {
    return update(key, (record, _) -> new Step<>(record, Optional.ofNullable(record))).orElse(null);
  }

  private void write(String key, byte @Nullable [] record) {
    int written = update(key, (_, _) -> new Step<>(record, 1));
    assertThat(written).isEqualTo(1);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Transition<Long> add(long units) {
    return (record, _) -> {
      long next = (record == null ? 0 : ByteBuffer.wrap(record).getLong()) + units;
      return new Step<>(ByteBuffer.allocate(Long.BYTES).putLong(next).array(), next);
    };
  }

  @Test
  void aRecordIsAsTheLastTransitionLeftIt() {
    assertThat(read(KEY)).isNull();
    write(KEY, bytes("first"));
    assertThat(read(KEY)).isEqualTo(bytes("first"));
    write(KEY, bytes("second"));
    assertThat(read(KEY)).isEqualTo(bytes("second"));
    write(KEY, new byte[0]);
    assertThat(read(KEY)).isEmpty();
    write(KEY, null);
    assertThat(read(KEY)).isNull();
    write(KEY, null);
    assertThat(read(KEY)).isNull();
  }

  @Test
  void aTransitionThatWritesTheEqualRecordAgainIsAWrite() {
    write(KEY, bytes("equal"));
    clock.advance(KEPT.toMillis() - 1);
    write(KEY, bytes("equal"));
    clock.advance(2);
    assertThat(read(KEY)).isEqualTo(bytes("equal"));
  }

  @Test
  void allBytesAreKept() {
    byte[] all = new byte[512];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    write(KEY, all);
    assertThat(read(KEY)).isEqualTo(all);
  }

  @Test
  void aLargeRecordIsKept() {
    byte[] large = new byte[RecordStore.MAX_RECORD_BYTES];
    large[large.length - 1] = 1;
    write(KEY, large);
    assertThat(read(KEY)).isEqualTo(large);
  }

  @Test
  void aRecordThatIsTooLargeIsRefusedWithoutEffect() {
    write(KEY, bytes("before"));
    byte[] tooLarge = new byte[RecordStore.MAX_RECORD_BYTES + 1];
    assertThatThrownBy(() -> write(KEY, tooLarge))
        .isInstanceOf(CompletionException.class)
        .hasRootCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("8388608");
    assertThat(read(KEY)).isEqualTo(bytes("before"));
  }

  @Test
  void keysAreApart() {
    write(KEY, bytes("one"));
    write(KEY + "/", bytes("another"));
    for (String each : ODD) {
      write(each, bytes(each));
    }
    assertThat(read(KEY)).isEqualTo(bytes("one"));
    assertThat(read(KEY + "/")).isEqualTo(bytes("another"));
    for (String each : ODD) {
      assertThat(read(each)).isEqualTo(bytes(each));
    }
  }

  @Test
  void aRecordIsKeptForAMillisecondAtLeast() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.update(KEY, Duration.ofNanos(999_999), add(1)))
        .withMessageContaining("1 ms");
  }

  @Test
  void aRecordIsKeptForItsTimeAfterTheLastWrite() {
    write(KEY, bytes("kept"));
    clock.advance(KEPT.toMillis());
    assertThat(read(KEY)).isEqualTo(bytes("kept"));
    clock.advance(1);
    assertThat(read(KEY)).isNull();
  }

  @Test
  void readingARecordDoesNotKeepItLonger() {
    write(KEY, bytes("kept"));
    clock.advance(KEPT.toMillis() - 1);
    assertThat(read(KEY)).isNotNull();
    clock.advance(2);
    assertThat(read(KEY)).isNull();
  }

  @Test
  void aLaterWriteDoesNotEndARecordEarlier() {
    write(KEY, bytes("kept"));
    Duration shorter = KEPT.dividedBy(2);
    join(store.update(KEY, shorter, (_, _) -> new Step<>(bytes("next"), 1)).toCompletableFuture());
    clock.advance(KEPT.toMillis());
    assertThat(read(KEY)).isEqualTo(bytes("next"));
    clock.advance(1);
    join(store.update(KEY, shorter, (_, _) -> new Step<>(bytes("new"), 1)).toCompletableFuture());
    clock.advance(shorter.toMillis() + 1);
    assertThat(read(KEY)).as("of a new record").isNull();
  }

  @Test
  void aRecordMayBeKeptForever() {
    join(store.update(KEY, Duration.ofMillis(Long.MAX_VALUE), add(1)).toCompletableFuture());
    clock.advance(TimeUnit.DAYS.toMillis(3_650));
    assertThat(update(KEY, add(1))).isEqualTo(2);
  }

  @Test
  void aTransitionGetsTheClockOfTheStore() {
    assertThat(this.<Long>update(KEY, (_, now) -> new Step<>(bytes("x"), now))).isEqualTo(START);
    clock.advance(1);
    assertThat(this.<Long>update(KEY, (record, now) -> new Step<>(record, now)))
        .isEqualTo(START + 1);
    clock.setWall(START - 5_000);
    assertThat(this.<Long>update(KEY, (record, now) -> new Step<>(record, now)))
        .isEqualTo(START - 5_000);
  }

  @Test
  void aTransitionThatThrowsFailsOnlyItsUpdate() {
    assertThat(update(KEY, add(1))).isEqualTo(1);
    List<CompletableFuture<Long>> updates = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Transition<Long> transition =
          i % 2 == 0
              ? add(1)
              : (_, _) -> {
                throw new IllegalStateException("broken");
              };
      updates.add(store.update(KEY, KEPT, transition).toCompletableFuture());
    }
    for (int i = 0; i < 20; i++) {
      CompletableFuture<Long> each = updates.get(i);
      if (i % 2 == 0) {
        assertThat(join(each)).isEqualTo(2 + i / 2);
      } else {
        assertThatThrownBy(() -> join(each)).hasRootCauseMessage("broken");
      }
    }
    assertThat(update(KEY, add(0))).isEqualTo(11);
  }

  @Test
  void theUpdatesOfAProcessTakeEffectInTheirOrder() {
    List<CompletableFuture<String>> updates = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String next = i + " ";
      updates.add(
          store
              .<String>update(
                  KEY,
                  KEPT,
                  (record, _) -> {
                    String text =
                        (record == null ? "" : new String(record, StandardCharsets.UTF_8));
                    return new Step<>(bytes(text + next), text);
                  })
              .toCompletableFuture());
    }
    StringBuilder expected = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      assertThat(join(updates.get(i))).isEqualTo(expected.toString());
      expected.append(i).append(' ');
    }
  }

  /** Each result comes once: no transition takes effect twice, and none is lost. */
  @Test
  void processesChangeARecordOneAfterAnother() throws Exception {
    int processes = 4;
    int updates = 150;
    Set<Long> results = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(processes)) {
      List<Future<List<Long>>> all = new ArrayList<>();
      for (int i = 0; i < processes; i++) {
        RecordStore own = openOne();
        all.add(
            threads.submit(() ->
                IntStream.range(0, updates)
                    .mapToObj(_ -> join(own.update(KEY, KEPT, add(1)).toCompletableFuture()))
                    .toList()));
      }
      for (Future<List<Long>> each : all) {
        List<Long> own = each.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(own).isSorted();
        results.addAll(own);
      }
    }
    assertThat(results).hasSize(processes * updates).contains((long) processes * updates);
  }

  @Test
  void updatesThatWaitTravelTogether() {
    List<CompletableFuture<Long>> updates = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      updates.add(store.update(KEY, KEPT, add(1)).toCompletableFuture());
    }
    for (int i = 0; i < 1_000; i++) {
      assertThat(join(updates.get(i))).isEqualTo(i + 1);
    }
    assertThat(update(KEY, add(0))).isEqualTo(1_000);
  }

  @Test
  void aClosedStoreRejectsUpdates() {
    RecordStore closed = openOne();
    closed.close();
    assertThatThrownBy(() -> join(closed.update(KEY, KEPT, add(1)).toCompletableFuture()))
        .hasCauseInstanceOf(StoreException.class);
  }
}
