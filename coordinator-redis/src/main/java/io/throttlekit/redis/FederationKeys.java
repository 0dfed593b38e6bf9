package io.throttlekit.redis;

import io.lettuce.core.cluster.SlotHash;
import io.throttlekit.CounterKey;

/**
 * Where a federation keeps what.
 *
 * <p>What one script needs has one hash tag, so that it is in one slot of a Cluster. The tag is a
 * number below 16,384 that follows from the key; that several keys have the same does not matter,
 * for their names come after it. There is an epoch for each tag in a Cluster, where slots move, and
 * one in all elsewhere.
 */
final class FederationKeys {
  /** Of everything that this version stores. */
  static final String VERSION = "tkf1:";

  private static final String EPOCH = "epoch";

  private final KeyText keys;
  private final boolean cluster;

  FederationKeys(String prefix, boolean cluster) {
    this.keys = new KeyText(prefix, VERSION);
    this.cluster = cluster;
  }

  /** The place of everything about {@code whole}. */
  Place of(CounterKey whole) {
    return ofTag(SlotHash.getSlot(KeyText.bytes(whole.toString())));
  }

  /** The place of everything with a tag. */
  Place ofTag(int tag) {
    String tagged = "{" + tag + "}";
    byte[] epoch = keys.of(cluster ? tagged + EPOCH : EPOCH);
    return cluster
        ? new Place(tagged, tag, epoch, SlotHash.getSlot(epoch))
        : new Place(tagged, Slots.NONE, epoch, Slots.NONE);
  }

  /** Keys that are in one slot. */
  final class Place {
    private final String tagged;

    /** The number of the epoch. */
    final int epoch;

    /** What the epoch is kept under; not to be changed. */
    final byte[] epochKey;

    /** The hash slot; Slots.NONE where there is but one Redis. */
    final int slot;

    private Place(String tagged, int epoch, byte[] epochKey, int slot) {
      this.tagged = tagged;
      this.epoch = epoch;
      this.epochKey = epochKey;
      this.slot = slot;
    }

    /** The key of what is kept of a counter. */
    byte[] key(String kind, CounterKey counter) {
      return keys.of(tagged + kind + '|' + counter);
    }
  }
}
