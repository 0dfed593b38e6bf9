package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures a whole decision without the network for a request that gets a permit, and the release
 * of the permit without that call's bytes. These are two decisions, to be compared with two of
 * {@link DecisionBenchmark}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LeasedDecisionBenchmark extends ShortRuns {
  private final Decider decider =
      new Decider("- {key: upstream, concurrency: {min: 100, max: 100}}");
  private final byte[] request = Decider.request("upstream", "payments");

  /** Measures one permit and its release. */
  @Benchmark
  public byte[] acquireAndRelease() {
    RateLimitRequest read = decider.read(request);
    Answer answer = decider.decide(read);
    byte[] response = decider.write(read, answer);
    var _ = decider.release(requireNonNull(answer.permit(), "refused").id());
    return response;
  }

  /** Closes what was opened for the policies. */
  @TearDown
  public void close() {
    decider.close();
  }
}
