package io.throttlekit.bench.micro;

import io.throttlekit.bench.KeySpread;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The order in which one thread of a benchmark walks over keys. */
@State(Scope.Thread)
public class KeyOrder {
  private long place = Thread.currentThread().threadId() * 1_000_003;

  int next(int keys) {
    place++;
    return KeySpread.at(place, keys);
  }
}
