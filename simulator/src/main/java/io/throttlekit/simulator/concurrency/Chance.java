package io.throttlekit.simulator.concurrency;

/**
 * A stream of random numbers: the same from the same seed on every machine, for it uses nothing
 * whose last bit is a processor's choice.
 *
 * <p>Steele, Lea and Flood's SplitMix64, and Marsaglia's polar method on top of it.
 */
public final class Chance {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final double ULP = 0x1p-53;

  private long state;
  private double spare;
  private boolean hasSpare;

  /**
   * A stream of its own for each purpose, so that who draws more of one thing changes no other.
   *
   * @param purpose a small number
   */
  public Chance(long seed, int purpose) {
    this.state = mixed(seed * GOLDEN + purpose);
  }

  /** Uniform, from 0 to less than 1. */
  public double uniform() {
    state += GOLDEN;
    return (mixed(state) >>> 11) * ULP;
  }

  /** How long until the next of events that are independent of each other, with mean 1. */
  public double exponential() {
    return -StrictMath.log(1 - uniform());
  }

  /** Normal, with mean 0 and deviation 1. */
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
