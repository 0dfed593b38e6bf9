package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.FixedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentCountersTest {
  private static final long NOW = 0;
  private static final long LONG_AFTER = 1_000_000;
  private static final int UNHEARD = 64;

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
    assertThat(heard).containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 192);
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
  void countersOfOnePlaceGoToTheirOtherPlaces() {
    List<Counter> crowd =
        IntStream.iterate(0, i -> i + 1)
            .mapToObj(Integer::toString)
            .filter(user -> first(key(user)) == 4 && second(key(user)) != 4)
            .limit(5)
            .map(this::known)
            .toList();
    assertThat(crowd).allMatch(counter -> recent.find(counter.key, NOW) == counter);
  }

  @Test
  void aCounterInItsOtherPlaceIsDroppedToo() {
    List<Counter> crowd =
        IntStream.range(0, 100_000)
            .mapToObj(Integer::toString)
            .filter(user -> first(key(user)) == 4 && second(key(user)) != 4)
            .limit(3)
            .map(this::known)
            .toList();
    Counter third = crowd.getLast(); // the first two fill the place of all three
    recent.drop(third.key);
    assertThat(recent.find(third.key, NOW)).isNull();
  }

  @Test
  void counterOfOneScopeIsNotThatOfAnotherWhereTheirHashesAreTheSame() {
    assertThat("Aa".hashCode()).isEqualTo("BB".hashCode());
    CounterKey one = CounterKey.of("Aa", "user", "a");
    CounterKey other = CounterKey.of("BB", "user", "a");
    Counter counter = new Counter(one, 1, new FixedWindow(10, 1_000), LONG_AFTER);
    counter.asked = UNHEARD;
    recent.put(counter);
    assertThat(recent.find(other, NOW)).isNull();
    assertThat(recent.find(one, NOW)).isSameAs(counter);
  }

  @Test
  void aCounterThatHasLeftIsNotPut() {
    Counter counter = counter("a");
    counter.asked = UNHEARD;
    counter.retire(NOW);
    recent.put(counter);
    assertThat(recent.find(counter.key, NOW)).isNull();
  }

  private static int first(CounterKey key) {
    return key.hashCode() & 1_022;
  }

  private static int second(CounterKey key) {
    return (key.hashCode() ^ (int) key.highHash()) & 1_022;
  }

  @Test
  void theNewestIsFoundHoweverFullItIsAndHasDisplacedOneOther() {
    List<Counter> counters = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Counter newest = known("user-" + i);
      assertThat(recent.find(newest.key, NOW)).isSameAs(newest);
      counters.add(newest);
    }
    assertThat(found(counters)).isEqualTo(1_024);
  }

  @Test
  void retiredCountersLeaveTheirPlaceToOthers() {
    List<Counter> retired = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      retired.add(known("user-" + i));
    }
    retired.forEach(counter -> counter.retire(NOW));
    List<Counter> counters = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      counters.add(known("later-" + i));
    }
    assertThat(found(counters)).as("of 400, some 373 without").isGreaterThan(387);
  }

  @Test
  void manyCountersAreFoundOnceThereIsRoomForThem() {
    List<Counter> counters = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      recent.makeRoomFor(counters.size() + 1);
      counters.add(known("user-" + i));
    }
    counters.forEach(recent::put); // as happens to those that growing tables had no place for
    assertThat(found(counters)).isGreaterThan(19_800);
  }

  private long found(List<Counter> counters) {
    return counters.stream().filter(c -> recent.find(c.key, NOW) == c).count();
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
