package io.throttlekit.service.concurrency.release;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.ReleaseExchange.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReleaseQueueTest {
  private static final int CAPACITY = 10_000;

  private final ReleaseQueue queue = new ReleaseQueue(CAPACITY);

  @Test
  void oneConnectionCannotFillTheQueue() {
    add("flood", 3 * CAPACITY);
    assertThat(queue.size()).isEqualTo(CAPACITY);
    add("honest", 4_000); // in place of as many of the others
    assertThat(queue.size()).isEqualTo(CAPACITY);
    assertThat(take(8_000).stream().filter("honest"::equals)).hasSize(4_000);
  }

  @Test
  void aFullQueueIsDividedAmongConnectionsThatFloodIt() {
    for (int i = 0; i < CAPACITY; i++) {
      for (String each : List.of("a", "b", "c", "d")) {
        add(each, 1);
      }
    }
    List<String> taken = take(CAPACITY);
    assertThat(taken).hasSize(CAPACITY);
    for (String each : List.of("a", "b", "c", "d")) {
      assertThat(taken.stream().filter(each::equals)).hasSize(CAPACITY / 4);
    }
  }

  @Test
  void connectionsTakeTurnsAcrossBatches() {
    for (int i = 0; i < 30; i++) {
      add("c" + i, 10);
    }
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      taken.addAll(take(7));
    }
    for (int i = 0; i < 30; i++) {
      assertThat(taken.stream().filter(("c" + i)::equals)).hasSize(7);
    }
  }

  @Test
  void aBatchContainsAHundredOfThoseThatMayBeInvented() {
    for (int i = 0; i < CAPACITY; i++) {
      queue.addUnverified(release("unverified", i));
    }
    assertThat(queue.due()).isEqualTo(100);
    add("honest", 2_000);
    assertThat(queue.due()).isEqualTo(2_100);
    List<String> batch = take(1_000);
    assertThat(batch.stream().filter("honest"::equals)).hasSize(900);
    assertThat(take(1_000).stream().filter("unverified"::equals)).hasSize(100);
    assertThat(take(1_000)).hasSize(300);
    assertThat(take(1_000)).hasSize(100).containsOnly("unverified");
  }

  @Test
  void thoseThatTurnOutToBeInventedAreDropped() {
    for (int i = 0; i < 1_000; i++) {
      queue.addUnverified(release(i % 10 == 0 ? "given" : "invented", i));
    }
    List<Release> taken = new ArrayList<>();
    while (queue.size() > 0) {
      taken.addAll(queue.take(1_000, release -> release.address().equals("given")));
    }
    assertThat(taken).hasSize(100);
  }

  @Test
  void fewOfThoseThatMayBeInventedAreVerifiedForABatch() {
    for (int i = 0; i < CAPACITY; i++) {
      queue.addUnverified(release("invented", i));
    }
    AtomicInteger verified = new AtomicInteger();
    assertThat(queue.take(CAPACITY, _ -> verified.incrementAndGet() < 0)).isEmpty();
    assertThat(verified).hasValue(400);
    assertThat(queue.size()).isEqualTo(CAPACITY - 400);
  }

  @Test
  void aBatchThatFailedGoesFirstWithoutItsOldest() {
    add("a", 1_000);
    List<Release> batch = queue.take(600, _ -> true);
    add("a", CAPACITY - 400 - 500);
    assertThat(queue.putBack(batch)).isEqualTo(batch.subList(0, 100));
    assertThat(queue.take(500, _ -> true)).isEqualTo(batch.subList(100, 600));
    assertThat(queue.size()).isEqualTo(CAPACITY - 500);
    assertThat(queue.clear()).isEqualTo(CAPACITY - 500);
    assertThat(queue.size()).isZero();
    assertThat(add("a", 1)).isZero();
    assertThat(take(10)).containsExactly("a");
  }

  /** Returns how many were dropped. */
  private long add(String connection, int count) {
    return IntStream.range(0, count)
        .filter(i -> queue.add(connection, release(connection, i)) != null)
        .count();
  }

  private List<String> take(int most) {
    return queue.take(most, _ -> true).stream().map(Release::address).toList();
  }

  private static Release release(String connection, int number) {
    return new Release(connection, Integer.toString(number));
  }
}
