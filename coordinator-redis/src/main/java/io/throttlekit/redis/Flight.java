package io.throttlekit.redis;

import io.throttlekit.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Requests that share one round trip. */
final class Flight {
  final int slot;
  final String knownEpoch;
  final byte[][] keys;
  final byte[] packed;

  /** When it was sent, by the monotonic clock. */
  final long sentNanos;

  private final List<Call<?>> calls;

  Flight(List<Call<?>> calls, Slots slots, Epochs epochs, long nowNanos) {
    this.calls = calls;
    this.slot = calls.getFirst().slot;
    this.sentNanos = nowNanos;
    this.knownEpoch = epochs.known(slot);
    Requests requests = new Requests(calls.size());
    for (int i = 0; i < calls.size(); i++) {
      calls.get(i).write(requests);
    }
    this.packed = requests.packed();
    int counters = requests.counters().size();
    this.keys = new byte[slots.isCluster() ? counters + 2 : counters + 1][];
    keys[0] = slots.epochKey(slot);
    for (int i = 1; i <= counters; i++) {
      keys[i] = slots.key(requests.counters().get(i - 1));
    }
    if (slots.isCluster()) {
      keys[counters + 1] = slots.historyKey(slot);
    }
  }

  int size() {
    return calls.size();
  }

  /** Returns the calls; must not be modified. */
  List<Call<?>> calls() {
    return calls;
  }

  /** Completes all its calls from the reply. */
  void land(byte[] reply, Epochs epochs) {
    ByteBuffer numbers = ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN);
    List<Runnable> answers = new ArrayList<>(calls.size());
    for (int i = 0; i < calls.size(); i++) {
      answers.add(calls.get(i).answerWith(numbers));
    }
    if (numbers.hasRemaining()) { // before callers act on counts of the old epoch
      byte[] epoch = new byte[numbers.remaining()];
      numbers.get(epoch);
      epochs.learn(slot, epoch);
    }
    answers.forEach(Runnable::run);
  }

  /** Fails the unanswered calls; returns their number. */
  int fail(StoreException failure) {
    int failed = 0;
    for (int i = 0; i < calls.size(); i++) {
      failed += calls.get(i).fail(failure) ? 1 : 0;
    }
    return failed;
  }
}
