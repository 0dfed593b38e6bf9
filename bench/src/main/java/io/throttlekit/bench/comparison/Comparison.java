package io.throttlekit.bench.comparison;

import io.throttlekit.bench.load.ClosedLoop;
import io.throttlekit.bench.load.OpenLoop;
import java.io.IOException;
import java.util.List;

/** Measures two warm servers alternately, so that a disturbance of the machine affects both. */
final class Comparison {
  private final ComparisonPlan plan;
  private final ClosedLoop closedLoop;

  Comparison(ComparisonPlan plan) {
    this.plan = plan;
    this.closedLoop = new ClosedLoop(plan.inFlight());
  }

  ComparisonReport run(Contender noOp, Contender service) throws IOException, InterruptedException {
    int half = measure(List.of(noOp, service));
    long warmUpAnswers = Math.min(noOp.warmUpAnswers(), service.warmUpAnswers());
    return new ComparisonReport(
        noOp.figures(), service.figures(), plan.rounds(), half, warmUpAnswers);
  }

  /** Measures each; returns the rate that was offered to all of them for latency. */
  int measure(List<Contender> all) throws IOException, InterruptedException {
    for (Contender contender : all) {
      contender.warmUp(closedLoop, plan.warmUp());
    }
    for (int round = 0; round < plan.rounds(); round++) {
      for (Contender contender : inTurn(all, round)) {
        contender.saturate(closedLoop, plan.roundTime());
      }
    }
    OpenLoop half = new OpenLoop(halfLoad(all));
    for (Contender contender : all) {
      contender.warmUp(half, plan.roundTime()); // the open loop's code has not been compiled yet
    }
    for (int round = 0; round < plan.rounds(); round++) {
      for (Contender contender : inTurn(all, round)) {
        contender.offerSteadily(half, plan.roundTime());
      }
    }
    for (Contender contender : all) {
      contender.countAllocations(closedLoop, plan.roundTime());
    }
    return half.perSecond();
  }

  /** Returns the same rate for all: half of the slowest one's throughput. */
  private static int halfLoad(List<Contender> all) {
    double slowest = all.stream().mapToDouble(Contender::peakPerSecond).min().orElse(0);
    return Math.max(1, (int) (slowest / 2));
  }

  private static List<Contender> inTurn(List<Contender> contenders, int round) {
    return round % 2 == 0 ? contenders : contenders.reversed();
  }
}
