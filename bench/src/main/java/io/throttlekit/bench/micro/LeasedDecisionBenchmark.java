package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.throttlekit.service.admission.Answer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A whole decision but for the wire of a request that gets below a ceiling, and the release of its
 * lease, without the bytes of that call. Two decisions, to be compared with two of {@link
 * DecisionBenchmark}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LeasedDecisionBenchmark extends ShortRuns {
  private final Decider decider =
      new Decider("- {key: upstream, concurrency: {min: 100, max: 100}}");
  private final byte[] request = Decider.request("upstream", "payments");

  /** One lease, and its end. */
  @Benchmark
  public byte[] takeAndGiveBack() {
    Answer answer = decider.decide(request);
    byte[] response = decider.write(request, answer);
    var _ = decider.release(requireNonNull(answer.lease(), "refused").id());
    return response;
  }

  /** Ends what was begun with the policies. */
  @TearDown
  public void close() {
    decider.close();
  }
}
