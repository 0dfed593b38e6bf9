package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.FixedWindow;
import java.util.ArrayList;
import java.util.List;
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
  void twoCountersOfOneHashAreKeptAndTheThirdTakesThePlaceOfTheOldest() {
    Counter first = known("AaAa"); // texts of one hash code, so of one slot
    Counter second = known("AaBB");
    assertThat(first.key).hasSameHashCodeAs(second.key);
    assertThat(recent.find(first.key, NOW)).isSameAs(first);
    assertThat(recent.find(second.key, NOW)).isSameAs(second);
    Counter third = known("BBBB");
    assertThat(recent.find(first.key, NOW)).isNull();
    assertThat(recent.find(second.key, NOW)).isSameAs(second);
    assertThat(recent.find(third.key, NOW)).isSameAs(third);
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
