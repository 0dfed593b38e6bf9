package io.throttlekit.tier;

/** placeholder until the sizers are merged. */
interface LeaseSizer {
  long size(long now);

  void offered(long units, long now);
}
