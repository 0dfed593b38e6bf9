package io.throttlekit.recent;

import io.throttlekit.CounterKey;

/**
 * What this process keeps for one counter. It leaves its cache when it retires, for good; whoever
 * still has it looks its key up again.
 */
public abstract class Keyed {
  private final CounterKey key;

  // Of the key, here because most of these are not in the processor's cache when they are asked
  // for.
  private final String scope;
  private final long lowHash;
  private final long highHash;

  /** How often it was asked for, about. */
  int asked;

  /** Something of the counter that {@code key} names. */
  protected Keyed(CounterKey key) {
    this.key = key;
    this.scope = key.scope();
    this.lowHash = key.lowHash();
    this.highHash = key.highHash();
  }

  /** The counter's key. */
  public final CounterKey key() {
    return key;
  }

  /** Whether it has left its cache. */
  public abstract boolean isRetired();

  /** Whether {@code wanted} is its key. */
  final boolean isFor(CounterKey wanted) {
    return wanted.lowHash() == lowHash
        && wanted.highHash() == highHash
        && wanted.scope().equals(scope);
  }
}
