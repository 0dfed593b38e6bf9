package io.throttlekit.store;

import io.throttlekit.CounterKey;

/**
 * The state that this process keeps for one counter. Once retired it has left its cache for good,
 * and callers that still hold it look up its key again.
 */
public abstract class Keyed {
  /** The counter's key. */
  protected final CounterKey key;

  // Copied from the key: most entries are not in the processor's cache when they are requested.
  final String scope;
  final long lowHash;
  final long highHash;

  /** The approximate number of look-ups of it. */
  int lookups;

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
}
