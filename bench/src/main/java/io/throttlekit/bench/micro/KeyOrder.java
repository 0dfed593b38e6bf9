package io.throttlekit.bench.micro;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The order in which one thread of a benchmark walks over keys: spread, and cheap to compute. */
@State(Scope.Thread)
public class KeyOrder {
  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private long place = Thread.currentThread().threadId() * 1_000_003;

  int next(int keys) {
    place += GOLDEN_RATIO;
    return (int) ((place >>> 33) % keys);
  }
}
