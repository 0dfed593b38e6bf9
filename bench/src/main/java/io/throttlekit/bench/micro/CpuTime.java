package io.throttlekit.bench.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Reports as {@code cpu} the processor time of an operation, including all threads, collectors and
 * compilers. Another busy program lengthens a benchmark, and hardly changes this.
 */
public final class CpuTime implements InternalProfiler {
  private final OperatingSystemMXBean process =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private long before;

  /** Creates the profiler; called by JMH, by its name. */
  public CpuTime() {}

  @Override
  public String getDescription() {
    return "processor time of an operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    before = process.getProcessCpuTime();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    double nanos = process.getProcessCpuTime() - before;
    long operations = result.getMetadata().getAllOps();
    return List.of(new ScalarResult("cpu", nanos / operations, "ns/op", AggregationPolicy.AVG));
  }
}
