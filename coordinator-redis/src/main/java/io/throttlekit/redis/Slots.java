package io.throttlekit.redis;

import io.lettuce.core.cluster.SlotHash;
import io.throttlekit.CounterKey;
import java.nio.charset.StandardCharsets;

/** Which hash slot of a Cluster has what. */
final class Slots {
  /** The slot of everything in a Redis that is no Cluster. */
  static final int NONE = -1;

  private static final String EPOCH = KeyText.VERSION + "epoch";

  private final byte[][] epochKeys;

  private Slots(byte[][] epochKeys) {
    this.epochKeys = epochKeys;
  }

  /** Of a Redis that is no Cluster. */
  static Slots none() {
    return new Slots(new byte[0][]);
  }

  /** Of a Cluster: finds a key in each slot, by trying. */
  static Slots ofCluster() {
    byte[][] keys = new byte[SlotHash.SLOT_COUNT][];
    int missing = keys.length;
    for (int i = 0; missing > 0; i++) {
      byte[] key = (EPOCH + '{' + i + '}').getBytes(StandardCharsets.US_ASCII);
      int slot = SlotHash.getSlot(key);
      if (keys[slot] == null) {
        keys[slot] = key;
        missing--;
      }
    }
    return new Slots(keys);
  }

  boolean isCluster() {
    return epochKeys.length > 0;
  }

  /** The slot of a counter. */
  int of(CounterKey key) {
    return isCluster() ? SlotHash.getSlot(KeyText.of(key)) : NONE;
  }

  /** The key of the epoch of a slot. */
  byte[] epochKey(int slot) {
    return isCluster() ? epochKeys[slot] : EPOCH.getBytes(StandardCharsets.US_ASCII);
  }
}
