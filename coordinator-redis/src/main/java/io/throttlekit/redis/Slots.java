package io.throttlekit.redis;

import io.lettuce.core.cluster.SlotHash;
import io.throttlekit.CounterKey;
import java.util.List;

/** Maps counters to hash slots of a Cluster. */
final class Slots {
  /** The slot of every key if Redis is not a Cluster. */
  static final int NONE = -1;

  private static final String EPOCH = "epoch";

  final KeyText keys;
  private final byte[] epochKey;
  private final byte[][] epochKeys;

  /** Creates the mapping; for a Cluster, searches for an epoch key in each slot. */
  Slots(KeyText keys, boolean cluster) {
    this.keys = keys;
    this.epochKey = keys.of(EPOCH);
    this.epochKeys = new byte[cluster ? SlotHash.SLOT_COUNT : 0][];
    int missing = epochKeys.length;
    for (int i = 0; missing > 0; i++) {
      byte[] key = keys.of(EPOCH + '{' + i + '}');
      int slot = SlotHash.getSlot(key);
      if (epochKeys[slot] == null) {
        epochKeys[slot] = key;
        missing--;
      }
    }
  }

  boolean isCluster() {
    return epochKeys.length > 0;
  }

  /** Returns the slot of a counter. */
  int of(CounterKey key) {
    return isCluster() ? SlotHash.getSlot(keys.of(key.toString())) : NONE;
  }

  /** Returns the three keys of a counter that tenants share, all in its slot. */
  List<byte[]> ofPool(CounterKey pool, int slot) {
    byte[] epoch = epochKey(slot);
    String text = pool.toString();
    return List.of(
        keys.of(text),
        KeyText.partOf(epoch, "order", text),
        KeyText.partOf(epoch, "amounts", text));
  }

  /** Returns the key of the epoch of a slot. */
  byte[] epochKey(int slot) {
    return isCluster() ? epochKeys[slot] : epochKey;
  }
}
