package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentKeysTest {
  private static final int UNREPORTED = 64;

  /** An entry of a cache. */
  private static final class Entry extends Keyed {
    private boolean retired;

    Entry(CounterKey key) {
      super(key);
    }

    void retire() {
      retired = true;
    }

    @Override
    public boolean isRetired() {
      return retired;
    }
  }

  private final RecentKeys<Entry> recent = new RecentKeys<>();

  @Test
  void accessesAreReportedToTheCacheAtIntervals() {
    Entry entry = entry("a");
    recent.put(entry);
    List<Integer> renewals = new ArrayList<>();
    for (int asked = 1; asked <= 200; asked++) {
      if (recent.find(entry.key()) == null) {
        renewals.add(asked);
      }
    }
    assertThat(renewals).containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 192);
  }

  @Test
  void anotherKeyIsNotFound() {
    Entry entry = known("a");
    assertThat(recent.find(key("b"))).isNull();
    recent.drop(entry.key());
    assertThat(recent.find(entry.key())).isNull();
  }

  @Test
  void entriesOfOneSlotMoveToTheirAlternateSlots() {
    List<Entry> crowd =
        IntStream.iterate(0, i -> i + 1)
            .mapToObj(Integer::toString)
            .filter(user -> first(key(user)) == 4 && second(key(user)) != 4)
            .limit(5)
            .map(this::known)
            .toList();
    assertThat(crowd).allMatch(entry -> recent.find(entry.key()) == entry);
  }

  @Test
  void anEntryInItsAlternateSlotIsDropped() {
    List<Entry> crowd =
        IntStream.range(0, 100_000)
            .mapToObj(Integer::toString)
            .filter(user -> first(key(user)) == 4 && second(key(user)) != 4)
            .limit(3)
            .map(this::known)
            .toList();
    Entry third = crowd.getLast(); // the first two fill the slots of all three
    recent.drop(third.key());
    assertThat(recent.find(third.key())).isNull();
  }

  @Test
  void entriesOfEqualHashesInDifferentScopesAreDistinguished() {
    assertThat("Aa".hashCode()).isEqualTo("BB".hashCode());
    CounterKey one = CounterKey.of("Aa", "user", "a");
    CounterKey other = CounterKey.of("BB", "user", "a");
    Entry entry = new Entry(one);
    entry.lookups = UNREPORTED;
    recent.put(entry);
    assertThat(recent.find(other)).isNull();
    assertThat(recent.find(one)).isSameAs(entry);
  }

  @Test
  void anEvictedEntryIsNotPut() {
    Entry entry = entry("a");
    entry.lookups = UNREPORTED;
    entry.retire();
    recent.put(entry);
    assertThat(recent.find(entry.key())).isNull();
  }

  private static int first(CounterKey key) {
    return key.hashCode() & 1_022;
  }

  private static int second(CounterKey key) {
    return (key.hashCode() ^ (int) key.highHash()) & 1_022;
  }

  @Test
  void aNewEntryInAFullTableDisplacesOneOther() {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Entry newest = known("user-" + i);
      assertThat(recent.find(newest.key())).isSameAs(newest);
      entries.add(newest);
    }
    assertThat(found(entries)).isEqualTo(1_024);
  }

  @Test
  void retiredEntriesFreeTheirSlots() {
    List<Entry> retired = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      retired.add(known("user-" + i));
    }
    retired.forEach(entry -> entry.retire());
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      entries.add(known("later-" + i));
    }
    assertThat(found(entries)).as("of 400, some 373 without").isGreaterThan(387);
  }

  @Test
  void manyEntriesAreFoundAfterTheTableGrows() {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      recent.makeRoomFor(entries.size() + 1);
      entries.add(known("user-" + i));
    }
    entries.forEach(recent::put); // as for entries that did not fit while the table grew
    assertThat(found(entries)).isGreaterThan(19_800);
  }

  private long found(List<Entry> entries) {
    return entries.stream().filter(c -> recent.find(c.key()) == c).count();
  }

  private Entry known(String user) {
    Entry entry = entry(user);
    entry.lookups = UNREPORTED;
    recent.put(entry);
    return entry;
  }

  private static Entry entry(String user) {
    return new Entry(key(user));
  }

  private static CounterKey key(String user) {
    return CounterKey.of("scope", "user", user);
  }
}
