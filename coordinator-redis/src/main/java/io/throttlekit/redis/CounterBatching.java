package io.throttlekit.redis;

import io.lettuce.core.ScriptOutputType;
import io.throttlekit.TimeSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to counters in batches: those that wait for one node, in a Cluster those of one hash
 * slot. Thread-safe.
 */
final class CounterBatching implements RoundTrip.Batching<CounterCall<?>> {
  /** More round trips in flight in a Cluster, where a batch only holds calls of one hash slot. */
  private static final int IN_FLIGHT_FACTOR_OF_CLUSTER = 16;

  /** The most waiting calls that are searched for others of the same slot, on the event loop. */
  private static final int LOOK_AHEAD = 256;

  /**
   * The most charges in a round trip: while a script runs, Redis serves no other client. A request
   * with more is sent alone.
   */
  private static final int MAX_CHARGES = 4096;

  private final Script script;
  private final Slots slots;
  private final Epochs epochs;
  private final RedisSettings settings;
  private final @Nullable TimeSource storeClock;

  /**
   * Creates a strategy with the bounds of the settings.
   *
   * @param storeClock replaces Redis's clock in tests
   */
  CounterBatching(
      RedisSettings settings, Slots slots, Epochs epochs, @Nullable TimeSource storeClock) {
    this.script = slots.isCluster() ? Script.load().inCluster() : Script.load();
    this.slots = slots;
    this.epochs = epochs;
    this.settings = settings;
    this.storeClock = storeClock;
  }

  @Override
  public List<Script> scripts() {
    return List.of(script);
  }

  @Override
  public int maxInFlight() {
    return settings.maxInFlight() * (slots.isCluster() ? IN_FLIGHT_FACTOR_OF_CLUSTER : 1);
  }

  /** Takes the call that has waited longest with other calls of its slot. */
  @Override
  public List<CounterCall<?>> next(Deque<CounterCall<?>> waiting) {
    List<CounterCall<?>> together = new ArrayList<>();
    int slot = waiting.getFirst().slot;
    int searched = 0;
    int charges = 0;
    for (Iterator<CounterCall<?>> each = waiting.iterator();
        each.hasNext() && together.size() < settings.maxBatch() && searched < LOOK_AHEAD;
        searched++) {
      CounterCall<?> call = each.next();
      if (call.slot != slot) {
        continue;
      }
      if (call.isExpired()) {
        each.remove();
        continue;
      }
      charges += call.weight;
      if (charges > MAX_CHARGES && !together.isEmpty()) {
        break; // the next round trip begins with it, so that none is overtaken
      }
      each.remove();
      together.add(call);
    }
    return together;
  }

  @Override
  public RoundTrip<CounterCall<?>, byte[]> roundTrip(List<CounterCall<?>> calls, long nowNanos) {
    int slot = calls.getFirst().slot;
    Requests requests = new Requests(calls.size(), slots, slot);
    for (int i = 0; i < calls.size(); i++) {
      calls.get(i).write(requests);
    }
    int counters = requests.keys.size();
    byte[][] keys = new byte[slots.isCluster() ? counters + 2 : counters + 1][];
    keys[0] = slots.epochKey(slot);
    for (int i = 1; i <= counters; i++) {
      keys[i] = requests.keys.get(i - 1);
    }
    if (slots.isCluster()) {
      keys[counters + 1] = KeyText.historyOf(slots.epochKey(slot));
    }
    byte[] known = epochs.known(slot);
    byte[] packed = requests.packed();
    byte[][] arguments =
        storeClock == null
            ? new byte[][] {known, packed}
            : new byte[][] {known, packed, ScriptCall.clock(storeClock)};
    return new RoundTrip<>(calls, script, keys, arguments, ScriptOutputType.VALUE, nowNanos) {
      @Override
      void complete(byte[] reply) {
        ByteBuffer numbers = ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN);
        List<Runnable> answers = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
          answers.add(calls.get(i).answerWith(numbers));
        }
        if (numbers.hasRemaining()) { // before callers act on counts of the old epoch
          byte[] epoch = new byte[numbers.remaining()];
          numbers.get(epoch);
          epochs.learn(slot, epoch, false);
        }
        answers.forEach(Runnable::run);
      }
    };
  }
}
