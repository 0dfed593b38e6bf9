package io.throttlekit.lease.sizing;

/**
 * Always leases the same size, but at most the limit.
 *
 * @param units from 1
 */
public record FixedSizer(long units) implements LeaseSizer {

  @Override
  public long size(long offered, long limit) {
    return Math.min(units, limit);
  }

  @Override
  public void observe(long demand, long limit) {
    // a fixed size has no state
  }

  @Override
  public boolean learns() {
    return false;
  }
}
