package io.throttlekit.bench.sensor;

import io.grpc.ManagedChannel;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Median;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.server.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One sensor of one server, with its measurements so far. */
final class SensorLoad {
  private final ServerProcess server;
  private final Connections connections;
  private final Sensor sensor;
  private final List<List<byte[]>> messages;
  private final List<Double> perSecond = new ArrayList<>();
  private final List<Double> cpuMicros = new ArrayList<>();
  private final TimeSource time = TimeSource.system();

  /** Messages that each connection has sent, so that a round does not repeat those just sent. */
  private final long[] sentSoFar;

  private long units;

  /**
   * @param messages of each connection
   */
  SensorLoad(
      ServerProcess server, Connections connections, Sensor sensor, List<List<byte[]>> messages) {
    this.server = server;
    this.connections = connections;
    this.sensor = sensor;
    this.messages = messages;
    this.sentSoFar = new long[messages.size()];
  }

  /** Offers as much as the server accepts, without measuring. */
  void warmUp(Duration lasting) {
    var _ = offer(lasting);
  }

  /** Offers as much as the server accepts, for one measured round. */
  void measure(Duration lasting) throws IOException {
    long cpu = server.usage().cpuNanos();
    long begun = time.monotonicNanos();
    long offered = offer(lasting);
    double seconds = (time.monotonicNanos() - begun) / 1e9;
    perSecond.add(offered / seconds);
    cpuMicros.add((server.usage().cpuNanos() - cpu) / 1e3 / Math.max(1, offered));
    System.err.printf(
        "%s, %s: %.0f/s, %.3f µs of CPU%n",
        server.name(), sensor.words(), perSecond.getLast(), cpuMicros.getLast());
  }

  /** Returns units per second, the median of the rounds. */
  double perSecond() {
    return Median.of(perSecond);
  }

  /** Returns CPU of the server per unit, in µs, the median of the rounds. */
  double cpuMicros() {
    return Median.of(cpuMicros);
  }

  /**
   * Checks that the server has used all units that were sent to it.
   *
   * @throws IllegalStateException if it has not
   */
  void check() throws IOException {
    double used = server.metric(sensor.metric());
    if (used != units) {
      throw new IllegalStateException(
          "%s received %d of its %s and used %.0f"
              .formatted(server.name(), units, sensor.words(), used));
    }
  }

  private long offer(Duration lasting) {
    long end = time.monotonicNanos() + lasting.toNanos();
    List<CompletableFuture<Long>> streams = new ArrayList<>();
    for (int stream = 0; stream < connections.count(); stream++) {
      ManagedChannel channel = connections.channel(stream);
      byte[] greeting = sensor.greeting(stream);
      streams.add(
          SensorStream.begin(
              channel, sensor, greeting, messages.get(stream), sentSoFar[stream], time, end));
    }
    long offered = 0;
    for (int stream = 0; stream < streams.size(); stream++) {
      long sent = streams.get(stream).join();
      sentSoFar[stream] += sent;
      offered += sent * sensor.unitsOfAMessage();
    }
    units += offered;
    return offered;
  }
}
