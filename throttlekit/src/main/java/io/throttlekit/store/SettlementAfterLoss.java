package io.throttlekit.store;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.List;

/** A settlement after a loss of data: refuses the charges whose policy is to deny. */
final class SettlementAfterLoss extends Settlement {

  /** The ms for which the loss refuses each charge. */
  private final long[] denied;

  /**
   * Creates a settlement.
   *
   * @param lossMillis when the counters were lost
   */
  SettlementAfterLoss(List<Claim> claims, long nowMillis, long lossMillis) {
    super(claims, nowMillis);
    this.denied = new long[size()];
    int next = 0;
    for (Claim claim : claims) {
      for (Charge charge : claim.charges()) {
        boolean refusable = claim.onDataLoss() == DataLoss.DENY && charge.cost() >= 0;
        denied[next++] =
            refusable ? Denial.millisLeft(charge.algorithm(), lossMillis, nowMillis) : 0;
      }
    }
  }

  @Override
  Decision count(int index, Charge charge) {
    if (denied[index] == 0) {
      return super.count(index, charge);
    }
    Object found = counter(index).draft;
    Decision decision = super.count(index, charge);
    if (charge.overrun() == Overrun.REFUSE) {
      counter(index).draft = found;
    }
    return Denial.of(decision, denied[index]);
  }
}
