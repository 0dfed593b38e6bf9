package io.throttlekit.redis;

import io.lettuce.core.cluster.SlotHash;
import io.throttlekit.CounterKey;

/**
 * The keys of a federation or a fleet.
 *
 * <p>All keys of one script call have the same hash tag, so that they are in one slot of a Cluster.
 * The tag is a number below 16,384 that is computed from the key; several keys may share it,
 * because their names follow the tag. A Cluster has an epoch for each tag, because slots can move;
 * any other Redis has one epoch.
 */
final class FederationKeys {
  /** The version of the stored format. */
  static final String VERSION = "tkf1:";

  private static final String EPOCH = "epoch";

  private final KeyText keys;
  private final boolean cluster;

  FederationKeys(String prefix, boolean cluster) {
    this.keys = new KeyText(prefix, VERSION);
    this.cluster = cluster;
  }

  /** Returns the place of all keys about {@code whole}. */
  Place of(CounterKey whole) {
    return of(whole.toString());
  }

  /** Returns the place of all keys about a counter or a concurrency limit. */
  Place of(String whole) {
    return ofTag(SlotHash.getSlot(KeyText.bytes(whole)));
  }

  /** Returns the place of all keys with a tag. */
  Place ofTag(int tag) {
    String tagged = "{" + tag + "}";
    byte[] epoch = keys.of(cluster ? tagged + EPOCH : EPOCH);
    return cluster
        ? new Place(keys, tagged, tag, epoch, SlotHash.getSlot(epoch))
        : new Place(keys, tagged, Slots.NONE, epoch, Slots.NONE);
  }

  /**
   * Keys in one slot.
   *
   * @param epoch the number of the epoch
   * @param epochKey the key of the epoch; must not be modified
   * @param slot the hash slot; {@link Slots#NONE} unless Redis is a Cluster
   */
  @SuppressWarnings("ArrayRecordComponent") // places are not compared
  record Place(KeyText keys, String tagged, int epoch, byte[] epochKey, int slot) {

    /** Returns the key of one kind of data about a counter. */
    byte[] key(String kind, CounterKey counter) {
      return key(kind, counter.toString());
    }

    /** Returns the key of one kind of data about a counter or a concurrency limit. */
    byte[] key(String kind, String whole) {
      return keys.of(tagged + kind + '|' + whole);
    }
  }
}
