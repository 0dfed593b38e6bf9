package io.throttlekit.redis;

import io.throttlekit.store.StoreListener;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The epochs that this process knows. A Redis with another epoch has lost its data or restored
 * older data in between.
 *
 * <p>An epoch is {@code <id> <lossMillis>}, with {@code lossMillis} 0 for the first one. A Cluster
 * has one for each hash slot, so that slots can move. Thread-safe.
 */
final class Epochs {
  private static final byte[] NONE = {};

  /**
   * Losses closer than this count as one in a Cluster: a master's slots are lost together, but
   * detected one by one.
   */
  private static final long SAME_LOSS_MILLIS = 60_000;

  private final ConcurrentMap<Integer, byte[]> known = new ConcurrentHashMap<>();
  private final StoreListener listener;
  private long lastLossMillis = -SAME_LOSS_MILLIS; // so that the first loss is reported

  Epochs(StoreListener listener) {
    this.listener = listener;
  }

  /** Returns the known epoch of {@code slot}, empty for none; must not be modified. */
  byte[] known(int slot) {
    return known.getOrDefault(slot, NONE);
  }

  /**
   * Records an epoch that Redis returned.
   *
   * @param byHandshake whether it began with this process's handshake, because data may be lost
   */
  synchronized void learn(int slot, byte[] epoch, boolean byHandshake) {
    byte[] before = known.put(slot, epoch);
    // The first epoch seen is no loss, unless this process's handshake began it.
    if (before == null ? !byHandshake : Arrays.equals(before, epoch)) {
      return;
    }
    String text = new String(epoch, StandardCharsets.US_ASCII);
    long loss = Long.parseLong(text.substring(text.indexOf(' ') + 1));
    // The same loss may be reported by other connections or slots.
    if (loss > 0
        && Math.abs(loss - lastLossMillis) >= (slot == Slots.NONE ? 1 : SAME_LOSS_MILLIS)) {
      lastLossMillis = loss;
      listener.dataLost(loss);
    }
  }
}
