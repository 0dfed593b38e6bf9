package io.throttlekit.bench;

import java.io.IOException;
import java.util.List;

/** Measures two warm servers in turn, so that what disturbs the machine disturbs both. */
final class Comparison {
  private final ComparisonPlan plan;
  private final ClosedLoop closedLoop;

  Comparison(ComparisonPlan plan) {
    this.plan = plan;
    this.closedLoop = new ClosedLoop(plan.inFlight());
  }

  ComparisonReport run(Contender noOp, Contender service) throws IOException, InterruptedException {
    List<Contender> both = List.of(noOp, service);
    for (Contender contender : both) {
      contender.warmUp(closedLoop, plan.warmUp());
    }
    long warmUpAnswers = Math.min(noOp.warmUpAnswers(), service.warmUpAnswers());
    for (int round = 0; round < plan.rounds(); round++) {
      for (Contender contender : inTurn(both, round)) {
        contender.saturate(closedLoop, plan.roundTime());
      }
    }
    OpenLoop half = new OpenLoop(halfLoad(noOp, service));
    for (Contender contender : both) {
      contender.warmUp(half, plan.roundTime()); // the sender's own code is cold
    }
    for (int round = 0; round < plan.rounds(); round++) {
      for (Contender contender : inTurn(both, round)) {
        contender.offerSteadily(half, plan.roundTime());
      }
    }
    for (Contender contender : both) {
      contender.countAllocations(closedLoop, plan.roundTime());
    }
    return new ComparisonReport(
        noOp.figures(), service.figures(), plan.rounds(), half.perSecond(), warmUpAnswers);
  }

  /** The same rate for both: half of what the slower one can do. */
  private static int halfLoad(Contender noOp, Contender service) {
    return Math.max(1, (int) (Math.min(noOp.peakPerSecond(), service.peakPerSecond()) / 2));
  }

  private static List<Contender> inTurn(List<Contender> contenders, int round) {
    return round % 2 == 0 ? contenders : contenders.reversed();
  }
}
