package io.throttlekit.store;

import io.throttlekit.CounterKey;

/**
 * The state that this process keeps for one counter. Once retired it has left its cache for good,
 * and callers that still hold it look up its key again.
 */
public abstract class Keyed {
  private final CounterKey key;

  // Copied from the key: most entries are not in the processor's cache when they are requested.
  private final String scope;
  private final long lowHash;
  private final long highHash;

  /** The approximate number of requests for it. */
  int asked;

  /** Creates the state of the counter with this {@code key}. */
  protected Keyed(CounterKey key) {
    this.key = key;
    this.scope = key.scope();
    this.lowHash = key.lowHash();
    this.highHash = key.highHash();
  }

  /** Returns the counter's key. */
  public final CounterKey key() {
    return key;
  }

  /** Returns whether this has left its cache. */
  public abstract boolean isRetired();

  /** Returns whether {@code wanted} is its key. */
  final boolean isFor(CounterKey wanted) {
    return wanted.lowHash() == lowHash
        && wanted.highHash() == highHash
        && wanted.scope().equals(scope);
  }
}
