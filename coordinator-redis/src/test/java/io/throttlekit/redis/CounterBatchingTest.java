package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Overrun;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.StoreListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class CounterBatchingTest {
  private static final int MAX_OF_BATCH = 4096;
  private static final int MAX_OF_REQUEST = 0xF000;

  private int counters;

  /** Concurrently they would have more counters than 16 bits can number. */
  @Test
  void theLargestRequestIsSentAlone() {
    CounterBatching batching = batching(new Slots(new KeyText(""), false));
    CounterCall<?> before = call(Slots.NONE, MAX_OF_BATCH - 1);
    CounterCall<?> largest = call(Slots.NONE, MAX_OF_REQUEST);
    CounterCall<?> after = call(Slots.NONE, 1);
    Deque<CounterCall<?>> waiting = new ArrayDeque<>(List.of(before, largest, after));
    assertThat(batching.next(waiting)).containsExactly(before);
    List<CounterCall<?>> alone = batching.next(waiting);
    assertThat(alone).containsExactly(largest);
    assertThat(batching.roundTrip(alone, 0).keys.length).isEqualTo(MAX_OF_REQUEST + 1);
    assertThat(batching.next(waiting)).containsExactly(after);
  }

  @Test
  void aBatchHasUpToItsMaximumOfCharges() {
    CounterBatching batching = batching(new Slots(new KeyText(""), false));
    CounterCall<?> many = call(Slots.NONE, MAX_OF_BATCH - 2);
    CounterCall<?> two = call(Slots.NONE, 2);
    CounterCall<?> one = call(Slots.NONE, 1);
    Deque<CounterCall<?>> waiting = new ArrayDeque<>(List.of(many, two, one));
    assertThat(batching.next(waiting)).containsExactly(many, two);
    assertThat(waiting).containsExactly(one);
  }

  @Test
  void chargesOfOtherSlotsDoNotEndABatch() {
    CounterBatching batching = batching(new Slots(new KeyText(""), true));
    CounterCall<?> first = call(1, 1);
    CounterCall<?> other = call(2, MAX_OF_BATCH);
    CounterCall<?> second = call(1, 1);
    Deque<CounterCall<?>> waiting = new ArrayDeque<>(List.of(first, other, second));
    assertThat(batching.next(waiting)).containsExactly(first, second);
    assertThat(waiting).containsExactly(other);
  }

  /** Returns a request for as many counters of its own. */
  private CounterCall<?> call(int slot, int charges) {
    List<Charge> all = new ArrayList<>();
    for (int i = 0; i < charges; i++) {
      all.add(
          new Charge(
              StoreCalls.key(StoreCalls.FIVE, "user" + counters++),
              StoreCalls.FIVE,
              1,
              Overrun.REFUSE));
    }
    return CounterCall.acquire(slot, 0, List.of(new Claim(Claim.Role.ENFORCED, all)));
  }

  private static CounterBatching batching(Slots slots) {
    Wanted wanted =
        slots.isCluster() ? Wanted.cluster("redis://127.0.0.1") : Wanted.redis("redis://127.0.0.1");
    return new CounterBatching(wanted.settings(), slots, new Epochs(StoreListener.NONE), null);
  }
}
