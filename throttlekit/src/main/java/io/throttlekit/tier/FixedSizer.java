package io.throttlekit.tier;

/**
 * The same size always, but never more than the limit.
 *
 * @param units from 1
 */
record FixedSizer(long units) implements LeaseSizer {

  @Override
  public long size(long offered, long limit) {
    return Math.min(units, limit);
  }

  @Override
  public void observe(long demand, long limit) {
    // nothing to learn
  }

  @Override
  public boolean learns() {
    return false;
  }
}
