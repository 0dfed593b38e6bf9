package io.throttlekit.simulator.leases;

/**
 * Generator of the published workloads, T. Ettinger's mulberry32: 32 bits of state, the same
 * sequence on every platform.
 */
final class Mulberry32 {
  private static final int INCREMENT = 0x6D2B79F5; // the constant of mulberry32
  private static final double RANGE = 0x1p32;

  private int state;

  Mulberry32(int seed) {
    this.state = seed;
  }

  /** Returns a uniform number, from 0 to less than 1. */
  double uniform() {
    state += INCREMENT;
    int mixed = (state ^ (state >>> 15)) * (state | 1);
    mixed ^= mixed + (mixed ^ (mixed >>> 7)) * (mixed | 61);
    return Integer.toUnsignedLong(mixed ^ (mixed >>> 14)) / RANGE;
  }

  /** Returns a nearly normal number, mean 0 and deviation 1: the sum of twelve uniforms less 6. */
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; i++) {
      sum += uniform();
    }
    return sum - 6;
  }
}
