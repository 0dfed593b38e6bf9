package io.throttlekit.service.concurrency.envoy;

import io.grpc.Channel;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.concurrency.sensors.Readings;
import io.throttlekit.simulator.concurrency.SimulatedLimiter;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two Envoys in simulated time, between a simulated load and backend. Requests reach them in turn.
 * Each sends its access log and a load report every second, and applies its shares every half
 * second.
 */
final class SimulatedEnvoys implements SimulatedLimiter, SimulatedAlgorithm {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final ManualTime time;
  private final Steering steering;
  private final List<Edge> edges = new ArrayList<>();
  private long now;
  private long ticks;

  private static final class Edge {
    private final String node;
    private final FakeEnvoy envoy;
    private final List<Logged> log = new ArrayList<>();
    private int inFlight;
    private int succeeded;

    Edge(String node, FakeEnvoy envoy) {
      this.node = node;
      this.envoy = envoy;
    }
  }

  private record Logged(Reading reading, long beganNanos) {}

  SimulatedEnvoys(ManualTime time, Steering steering, Channel channel) {
    this.time = time;
    this.steering = steering;
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
    edge.log.add(new Logged(Readings.REFUSED, nowNanos));
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
    Reading reading =
        dropped
            ? Readings.of(Kind.CLIENT_LEFT, 0)
            : Readings.answered(Math.max(1, nowNanos - startNanos));
    edge.log.add(new Logged(reading, startNanos));
  }

  @Override
  public long next() {
    return now + TICK_NANOS;
  }

  @Override
  public void wake() {
    now += TICK_NANOS;
    time.advance(TimeUnit.NANOSECONDS.toMillis(TICK_NANOS));
    Edge sender = edges.get((int) (ticks++ % edges.size())); // each of them every second
    Iterator<Logged> log = sender.log.iterator();
    while (log.hasNext()) {
      Logged logged = log.next();
      steering.ended(sender.node, logged.reading, logged.beganNanos, now);
      log.remove();
    }
    steering.reported(sender.node, 1, Readings.load(sender.inFlight, sender.succeeded), now);
    sender.succeeded = 0;
    tick();
  }

  private void tick() {
    steering.tick();
    edges.forEach(edge -> edge.envoy.obeyAll());
  }

  private Edge edge(long number) {
    return edges.get((int) (number % edges.size()));
  }
}
