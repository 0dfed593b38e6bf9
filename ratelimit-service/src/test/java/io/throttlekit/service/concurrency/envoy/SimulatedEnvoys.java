package io.throttlekit.service.concurrency.envoy;

import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.Entries;
import io.throttlekit.service.concurrency.sensors.FakeCall;
import io.throttlekit.service.concurrency.sensors.LogCounts;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.simulator.concurrency.SimulatedLimiter;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two Envoys of two workers each in simulated time, between a simulated load and backend. Requests
 * reach the workers in turn. Each worker sends its access log every second, and each Envoy a load
 * report. Shares are applied every half second.
 */
final class SimulatedEnvoys implements SimulatedLimiter, SimulatedAlgorithm {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int WORKERS = 2;

  private final ManualTime time;
  private final Steering steering;
  private final AccessLogs logs;
  private final List<Edge> edges = new ArrayList<>();
  private long now;
  private int ticks;

  private final class Edge {
    private final String node;
    private final FakeEnvoy envoy;
    private final List<Worker> workers = new ArrayList<>();
    private int inFlight;
    private int succeeded;

    Edge(String node, FakeEnvoy envoy) {
      this.node = node;
      this.envoy = envoy;
      for (int worker = 0; worker < WORKERS; worker++) {
        workers.add(new Worker(node));
      }
    }
  }

  private final class Worker {
    private final StreamObserver<StreamAccessLogsMessage> stream =
        logs.streamAccessLogs(new FakeCall<>());
    private final StreamAccessLogsMessage.Builder message = StreamAccessLogsMessage.newBuilder();

    Worker(String node) {
      message.getIdentifierBuilder().getNodeBuilder().setId(node);
    }

    void log(HTTPAccessLogEntry entry) {
      message.getHttpLogsBuilder().addLogEntry(entry);
    }

    void flush() {
      stream.onNext(message.build());
      message.clear();
    }
  }

  SimulatedEnvoys(ManualTime time, Steering steering, Channel channel) {
    this.time = time;
    this.steering = steering;
    this.logs = new AccessLogs(steering, new LogCounts(), time, Integer.MAX_VALUE);
    for (String node : List.of("a", "b")) {
      edges.add(new Edge(node, FakeEnvoy.connect(channel, node)));
    }
    tick();
  }

  @Override
  public int limit() {
    return edges.stream().mapToInt(edge -> edge.envoy.share("up")).sum();
  }

  @Override
  public boolean admit(long number, long nowNanos, int inFlight) {
    Edge edge = edge(number);
    if (edge.inFlight < edge.envoy.share("up")) {
      edge.inFlight++;
      return true;
    }
    worker(number).log(Entries.refused("refused at " + nowNanos, nowNanos));
    return false;
  }

  @Override
  public void ended(
      long number,
      long startNanos,
      long nowNanos,
      int inFlightThen,
      int inFlightNow,
      boolean dropped) {
    Edge edge = edge(number);
    edge.inFlight--;
    edge.succeeded += dropped ? 0 : 1;
    String id = Long.toString(number);
    long nanos = nowNanos - startNanos;
    worker(number)
        .log(
            dropped
                ? Entries.left(id, startNanos, nanos)
                : Entries.answered(id, startNanos, nanos));
  }

  @Override
  public long next() {
    return now + TICK_NANOS;
  }

  /** Flushes one worker of each Envoy. */
  @Override
  public void wake() {
    now += TICK_NANOS;
    time.advance(TimeUnit.NANOSECONDS.toMillis(TICK_NANOS));
    edges.forEach(edge -> edge.workers.get(ticks % WORKERS).flush());
    Edge reports = edges.get(ticks % edges.size());
    steering.reported(reports.node, 1, Readings.load(reports.inFlight, reports.succeeded), now);
    reports.succeeded = 0;
    ticks++;
    tick();
  }

  private void tick() {
    steering.tick();
    edges.forEach(edge -> edge.envoy.obeyAll());
  }

  private Edge edge(long number) {
    return edges.get((int) (number % edges.size()));
  }

  private Worker worker(long number) {
    return edge(number).workers.get((int) (number / edges.size() % WORKERS));
  }
}
