package io.throttlekit.bench;

/**
 * The order in which loads and benchmarks walk over keys: spread, cheap, and the same every time.
 */
public final class KeySpread {
  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private KeySpread() {}

  /**
   * The key at a place of the order.
   *
   * @param keys how many there are, from 1
   * @return from 0 to keys - 1
   */
  public static int at(long place, int keys) {
    return (int) (((place * GOLDEN_RATIO) >>> 33) % keys);
  }
}
