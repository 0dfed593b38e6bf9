package io.throttlekit.simulator.leases;

import io.throttlekit.tier.EoqSizer;
import io.throttlekit.tier.LeaseCost;
import io.throttlekit.tier.LeaseSizer;

/** What chooses the sizes of one node's leases in a simulation. */
interface Learner {

  /**
   * The next lease.
   *
   * @param offered units in this window, without the one that the lease is for
   */
  long size(long offered);

  /** A window is over. */
  void observe(long demand);

  /** Always the same size. */
  static Learner fixed(long units) {
    return new Learner() {
      @Override
      public long size(long offered) {
        return units;
      }

      @Override
      public void observe(long demand) {
        // nothing to learn
      }
    };
  }

  /** A sizer of the engine, under one limit. */
  static Learner of(LeaseSizer sizer, long limit) {
    return new Learner() {
      @Override
      public long size(long offered) {
        return sizer.size(offered, limit);
      }

      @Override
      public void observe(long demand) {
        sizer.observe(demand, limit);
      }
    };
  }

  /** The engine's learner, knowing nothing yet. */
  static Learner eoq(LeaseCost cost, long limit) {
    return of(new EoqSizer(cost, limit), limit);
  }
}
