package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.FixedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RecentCountersTest {
  private static final long NOW = 0;
  private static final long LONG_AFTER = 1_000_000;
  private static final int UNHEARD = 16;

  private final RecentCounters recent = new RecentCounters();

  @Test
  void aCounterIsFoundOnceTheCacheHasHeardOfItAndTheCacheGoesOnHearingOfIt() {
    Counter counter = counter("a");
    recent.put(counter);
    List<Integer> heard = new ArrayList<>();
    for (int asked = 1; asked <= 200; asked++) {
      if (recent.find(counter.key, NOW) == null) {
        heard.add(asked);
      }
    }
    assertThat(heard).hasSize(15 + 3).startsWith(1, 2, 3).endsWith(15, 64, 128, 192);
  }

  @Test
  void aCounterWhoseTimeMayBeUpIsForTheCacheToDecide() {
    Counter counter = known("a");
    assertThat(recent.find(counter.key, LONG_AFTER - 501)).isSameAs(counter);
    assertThat(recent.find(counter.key, LONG_AFTER - 500)).isNull();
  }

  @Test
  void anotherKeyIsNotFound() {
    Counter counter = known("a");
    assertThat(recent.find(key("b"), NOW)).isNull();
    recent.drop(counter.key);
    assertThat(recent.find(counter.key, NOW)).isNull();
  }

  @Test
  void twoCountersOfOnePlaceAreKeptAndTheThirdTakesThatOfTheOldest() {
    Counter first = known("first");
    Counter second = known(sharingThePlaceOf(first));
    assertThat(recent.find(first.key, NOW)).isSameAs(first);
    assertThat(recent.find(second.key, NOW)).isSameAs(second);
    Counter third = known(sharingThePlaceOf(first, second));
    assertThat(recent.find(third.key, NOW)).isSameAs(third);
    long kept = Stream.of(first, second).filter(c -> recent.find(c.key, NOW) == c).count();
    assertThat(kept).isEqualTo(1);
  }

  @Test
  void manyCountersAreFoundOnceThereIsRoomForThem() {
    List<Counter> counters = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      recent.makeRoomFor(counters.size() + 1);
      counters.add(known("user-" + i));
    }
    long found = counters.stream().filter(c -> recent.find(c.key, NOW) == c).count();
    assertThat(found).isGreaterThan(17_000);
  }

  /** A user whose counter lies in the same two of the 1,024 slots. */
  private static String sharingThePlaceOf(Counter... others) {
    Set<CounterKey> taken = Stream.of(others).map(c -> c.key).collect(Collectors.toSet());
    int place = key("first").hashCode() & 1_022;
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(Integer::toString)
        .filter(user -> (key(user).hashCode() & 1_022) == place && !taken.contains(key(user)))
        .findFirst()
        .orElseThrow();
  }

  private Counter known(String user) {
    Counter counter = counter(user);
    counter.asked = UNHEARD;
    recent.put(counter);
    return counter;
  }

  private static Counter counter(String user) {
    return new Counter(key(user), 1, new FixedWindow(10, 1_000), LONG_AFTER);
  }

  private static CounterKey key(String user) {
    return CounterKey.of("scope", "user", user);
  }
}
