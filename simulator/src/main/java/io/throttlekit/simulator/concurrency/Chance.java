package io.throttlekit.simulator.concurrency;

/**
 * A stream of random numbers that depends only on its seed, on every machine: it uses no operation
 * whose last bit depends on the processor.
 *
 * <p>SplitMix64 by Steele, Lea and Flood, and Marsaglia's polar method.
 */
public final class Chance {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L; // 2^64 / golden ratio, as in SplitMix64
  private static final double ULP = 0x1p-53; // spacing of doubles below 1

  private long state;
  private double spare;
  private boolean hasSpare;

  /**
   * Creates a stream. Each purpose has its own, so that drawing more numbers for one changes no
   * other.
   *
   * @param purpose a small number
   */
  public Chance(long seed, int purpose) {
    this.state = mixed(seed * GOLDEN + purpose);
  }

  /** Returns a uniform number, from 0 to less than 1. */
  public double uniform() {
    state += GOLDEN;
    return (mixed(state) >>> 11) * ULP;
  }

  /** Returns an exponentially distributed interval between independent events, with mean 1. */
  public double exponential() {
    // 1 − uniform: the logarithm of 0 is infinite. StrictMath is the same on every machine.
    return -StrictMath.log(1 - uniform());
  }

  /** Returns a normally distributed number, with mean 0 and deviation 1. */
  public double normal() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    double x;
    double y;
    double square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = Math.sqrt(-2 * StrictMath.log(square) / square);
    spare = y * factor;
    hasSpare = true;
    return x * factor;
  }

  private static long mixed(long bits) {
    long once = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    long twice = (once ^ (once >>> 27)) * 0x94D049BB133111EBL;
    return twice ^ (twice >>> 31);
  }
}
