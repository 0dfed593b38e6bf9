package io.throttlekit.bench.micro;

import io.throttlekit.bench.KeySpread;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * The order in which one thread of a benchmark walks over keys: one of its own, because of two
 * threads in the same order the faster one catches up, and from then on both are at the same keys.
 */
@State(Scope.Thread)
public class KeyOrder {
  private final long stride = 2 * Thread.currentThread().threadId() + 1;
  private long place;

  int next(int keys) {
    place += stride;
    return KeySpread.at(place, keys);
  }
}
