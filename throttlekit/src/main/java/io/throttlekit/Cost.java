package io.throttlekit;

/** The range of costs: whole units, from a refund of {@link #MAX} to a charge of {@link #MAX}. */
public final class Cost {

  /** The largest cost of one charge, and the largest limit: 2^53 − 1, exact in every store. */
  public static final long MAX = (1L << 53) - 1;

  private Cost() {}
}
