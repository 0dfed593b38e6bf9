package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.EoqSizer;
import io.throttlekit.lease.sizing.LeaseCost;
import io.throttlekit.lease.sizing.LeaseSizer;

/** Sizing of one node's leases in a simulation. */
interface Learner {

  /**
   * Returns the size of the next lease.
   *
   * @param offered units in this window, without the one that the lease is for
   */
  long size(long offered);

  /** Observes the demand of a window that has ended. */
  void observe(long demand);

  /** Returns a learner with a constant size. */
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

  /** Returns a sizer of the engine, under one limit. */
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

  /** Returns the engine's learner without observations. */
  static Learner eoq(LeaseCost cost, long limit) {
    return of(new EoqSizer(cost, limit), limit);
  }
}
