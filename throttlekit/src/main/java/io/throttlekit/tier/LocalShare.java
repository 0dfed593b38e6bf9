package io.throttlekit.tier;

import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * A fraction of every limit, rounded down.
 *
 * @param part from 0 to 1
 */
record LocalShare(double part) {

  /** Returns the claim with its limits scaled to this fraction. */
  Claim of(Claim claim) {
    return new Claim(
        claim.role(), claim.charges().stream().map(this::of).toList(), claim.onDataLoss());
  }

  private Charge of(Charge charge) {
    return new Charge(
        charge.key(), of(charge.algorithm()), charge.cost(), charge.overrun(), of(charge.tenant()));
  }

  /** Tenants share the fraction as they do the limit, by the weights that this process sees. */
  private @Nullable FairTenant of(@Nullable FairTenant tenant) {
    if (tenant == null) {
      return null;
    }
    FairTerms whole = tenant.terms();
    return new FairTenant(tenant.key(), tenant.weight(), whole.withLimit(of(whole.limit())));
  }

  private RateAlgorithm<?> of(RateAlgorithm<?> algorithm) {
    long window = algorithm.windowMillis();
    return switch (algorithm) {
      case FixedWindow whole -> new FixedWindow(of(whole.limit()), window);
      case SlidingWindow whole -> new SlidingWindow(of(whole.limit()), window, whole.buckets());
      case SlidingLog whole -> new SlidingLog(of(whole.limit()), window);
      case Gcra whole -> {
        // A share that rounds to 0 refuses everything; rate and burst must then both be 0.
        boolean none = of(whole.rate()) == 0 || of(whole.burst()) == 0;
        yield new Gcra(none ? 0 : of(whole.rate()), window, none ? 0 : of(whole.burst()));
      }
      case TokenBucket whole -> {
        // As for GCRA: refill and capacity must both be 0, or neither.
        boolean none = of(whole.refill()) == 0 || of(whole.capacity()) == 0;
        yield new TokenBucket(
            none ? 0 : of(whole.refill()), window, none ? 0 : of(whole.capacity()));
      }
    };
  }

  private long of(long limit) {
    return (long) (limit * part);
  }
}
