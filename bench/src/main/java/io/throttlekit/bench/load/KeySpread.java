package io.throttlekit.bench.load;

/**
 * Order in which loads and benchmarks visit keys: evenly spread, cheap, and the same every time.
 */
public final class KeySpread {
  // Multiplicative hashing: 2^64 divided by the golden ratio.
  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private KeySpread() {}

  /**
   * Returns the key at a place of the order.
   *
   * @param keys number of keys, from 1
   * @return from 0 to keys - 1
   */
  public static int at(long place, int keys) {
    // A shift of 33 leaves 31 bits, never negative.
    return (int) (((place * GOLDEN_RATIO) >>> 33) % keys);
  }
}
