package io.throttlekit.bench.micro;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Decisions of one thread of a benchmark, from its warm-up on. */
@State(Scope.Thread)
public class Decisions {
  private long admitted;
  private long refused;

  boolean counted(boolean admits) {
    if (admits) {
      admitted++;
    } else {
      refused++;
    }
    return admits;
  }

  /** Fails the trial unless all decisions match the mix. */
  @TearDown(Level.Trial)
  public void check(KeyedLimiterBenchmark benchmark) {
    benchmark.mix.check(admitted, refused);
  }
}
