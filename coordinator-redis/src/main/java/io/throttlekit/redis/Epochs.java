package io.throttlekit.redis;

import io.throttlekit.store.StoreListener;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The epochs that this process has seen: a Redis whose epoch is another has lost its data, or got
 * back older data, in between.
 *
 * <p>An epoch is {@code <id> <lossMillis>}, where the latter is 0 for the first. A Cluster has one
 * for each hash slot, so that slots may move. Thread-safe.
 */
final class Epochs {
  private static final String NONE = "";

  /** Slots of one master are emptied together, and notice it one after another. */
  private static final long SAME_LOSS_MILLIS = 60_000;

  private final ConcurrentMap<Integer, String> known = new ConcurrentHashMap<>();
  private final StoreListener listener;
  private long lastLossMillis = -SAME_LOSS_MILLIS;

  Epochs(StoreListener listener) {
    this.listener = listener;
  }

  /** The epoch known of {@code slot}, empty when none is. */
  String known(int slot) {
    return known.getOrDefault(slot, NONE);
  }

  /** Takes note of an epoch that Redis has told. */
  void learn(int slot, byte[] told) {
    learn(slot, told, false);
  }

  /**
   * The same.
   *
   * @param begunHere whether it was begun for this process, because data may be lost
   */
  synchronized void learn(int slot, byte[] told, boolean begunHere) {
    String epoch = new String(told, StandardCharsets.US_ASCII);
    String before = known.put(slot, epoch);
    if (before == null ? !begunHere : before.equals(epoch)) {
      return;
    }
    long loss = Long.parseLong(epoch.substring(epoch.indexOf(' ') + 1));
    if (loss > 0
        && Math.abs(loss - lastLossMillis) >= (slot == Slots.NONE ? 1 : SAME_LOSS_MILLIS)) {
      lastLossMillis = loss;
      listener.dataLost(loss);
    }
  }
}
