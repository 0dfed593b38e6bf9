package io.throttlekit.bench.micro;

import io.throttlekit.bench.load.KeySpread;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Order in which one thread of a benchmark visits keys. Each thread has its own: of two threads in
 * the same order the faster one catches up, and then both contend for the same keys.
 */
@State(Scope.Thread)
public class KeyOrder {
  // Odd, so that the walk reaches every key.
  private final long stride = 2 * Thread.currentThread().threadId() + 1;
  private long place;

  int next(int keys) {
    place += stride;
    return KeySpread.at(place, keys);
  }
}
