package io.throttlekit.redis;

import io.lettuce.core.cluster.SlotHash;
import io.throttlekit.CounterKey;

/** Which hash slot of a Cluster has what. */
final class Slots {
  /** The slot of everything in a Redis that is no Cluster. */
  static final int NONE = -1;

  private static final String EPOCH = "epoch";

  private final KeyText keys;
  private final byte[] epochKey;
  private final byte[][] epochKeys;

  private Slots(KeyText keys, byte[][] epochKeys) {
    this.keys = keys;
    this.epochKey = keys.of(EPOCH);
    this.epochKeys = epochKeys;
  }

  /** Of a Redis that is no Cluster. */
  static Slots none(KeyText keys) {
    return new Slots(keys, new byte[0][]);
  }

  /** Of a Cluster: finds a key in each slot, by trying. */
  static Slots ofCluster(KeyText keys) {
    byte[][] epochs = new byte[SlotHash.SLOT_COUNT][];
    int missing = epochs.length;
    for (int i = 0; missing > 0; i++) {
      byte[] key = keys.of(EPOCH + '{' + i + '}');
      int slot = SlotHash.getSlot(key);
      if (epochs[slot] == null) {
        epochs[slot] = key;
        missing--;
      }
    }
    return new Slots(keys, epochs);
  }

  boolean isCluster() {
    return epochKeys.length > 0;
  }

  /** The slot of a counter. */
  int of(CounterKey key) {
    return isCluster() ? SlotHash.getSlot(keys.of(key)) : NONE;
  }

  /** The key of a counter. */
  byte[] key(CounterKey counter) {
    return keys.of(counter);
  }

  /** The key of the history of the server that counted last in a slot. */
  byte[] historyKey(int slot) {
    return KeyText.historyOf(epochKey(slot));
  }

  /** The key of the epoch of a slot. */
  byte[] epochKey(int slot) {
    return isCluster() ? epochKeys[slot] : epochKey;
  }
}
