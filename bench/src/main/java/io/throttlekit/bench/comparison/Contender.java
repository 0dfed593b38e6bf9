package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.command.Median;
import io.throttlekit.bench.load.ClosedLoop;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.load.Load;
import io.throttlekit.bench.load.LoadResult;
import io.throttlekit.bench.load.MeasuredLoad;
import io.throttlekit.bench.load.OpenLoop;
import io.throttlekit.bench.load.Requests;
import io.throttlekit.bench.server.AllocationProbe;
import io.throttlekit.bench.server.ServerFigures;
import io.throttlekit.bench.server.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A server of a comparison, with its measurements so far. */
final class Contender implements AutoCloseable {
  private final ServerProcess server;
  private final MeasuredLoad.Meter meter;
  private final Connections connections;
  private final Requests requests;
  private final List<MeasuredLoad> saturated = new ArrayList<>();
  private final List<MeasuredLoad> steady = new ArrayList<>();
  private long warmUpAnswers;
  private double allocatedBytes = Double.NaN;

  Contender(ServerProcess server, ComparisonPlan plan) {
    this(server, server::usage, plan);
  }

  /**
   * @param meter reads the usage of the server, including its store where it has one
   */
  Contender(ServerProcess server, MeasuredLoad.Meter meter, ComparisonPlan plan) {
    this.server = server;
    this.meter = meter;
    this.connections = new Connections(server.target(), plan.connections());
    this.requests = new Requests(plan.keys());
  }

  void warmUp(Load loop, Duration time) throws InterruptedException {
    if (time.isPositive()) {
      warmUpAnswers += loop.offer(connections, requests, Bounds.lasting(time)).answers();
    }
  }

  /** Returns the number of requests that the server had answered before the measurements. */
  long warmUpAnswers() {
    return warmUpAnswers;
  }

  void saturate(ClosedLoop loop, Duration time) throws IOException, InterruptedException {
    saturated.add(measure(loop, time));
  }

  void offerSteadily(OpenLoop loop, Duration time) throws IOException, InterruptedException {
    steady.add(measure(loop, time));
  }

  /** Counts allocations; to be called last, because the probe loads classes into the server. */
  void countAllocations(ClosedLoop loop, Duration time) throws IOException, InterruptedException {
    try (AllocationProbe probe = AllocationProbe.of(server.pid())) {
      long before = probe.allocatedBytes();
      LoadResult result = loop.offer(connections, requests, Bounds.lasting(time));
      allocatedBytes = (double) (probe.allocatedBytes() - before) / Math.max(1, result.answers());
    }
  }

  /** Offers a load that is not part of the comparison. */
  LoadResult offer(ClosedLoop loop, Requests others, Duration time) throws InterruptedException {
    return loop.offer(connections, others, Bounds.lasting(time));
  }

  double peakPerSecond() {
    return Median.of(saturated.stream().map(round -> round.load().perSecond()).toList());
  }

  ServerFigures figures() {
    return new ServerFigures(
        server.name(),
        peakPerSecond(),
        Median.of(saturated.stream().map(MeasuredLoad::cpuMicros).toList()),
        Median.of(steady.stream().map(MeasuredLoad::cpuMicros).toList()),
        Median.of(steady.stream().map(round -> round.load().millisAt(50)).toList()),
        Median.of(steady.stream().map(round -> round.load().millisAt(99)).toList()),
        allocatedBytes,
        saturated.stream().mapToLong(MeasuredLoad::residentBytes).max().orElse(0),
        Stream.concat(saturated.stream(), steady.stream())
            .mapToLong(round -> round.load().failed())
            .sum());
  }

  private MeasuredLoad measure(Load load, Duration time) throws IOException, InterruptedException {
    MeasuredLoad measured =
        MeasuredLoad.of(meter, load, connections, requests, Bounds.lasting(time));
    System.err.println(server.name() + ": " + measured);
    return measured;
  }

  @Override
  public void close() {
    connections.close();
    server.close();
  }
}
