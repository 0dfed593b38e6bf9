package io.throttlekit.bench.load;

import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.machine.ProcessUsage;
import java.io.IOException;

/**
 * A load together with the server's usage.
 *
 * @param cpuMicros CPU time of the server process per reply, in µs
 * @param residentBytes memory of the server process at the end
 */
public record MeasuredLoad(LoadResult load, double cpuMicros, long residentBytes) {

  /** Source of a server's usage. */
  public interface Meter {
    ProcessUsage read() throws IOException;
  }

  public static MeasuredLoad of(
      Meter server, Load load, Connections connections, Requests requests, Bounds bounds)
      throws IOException, InterruptedException {
    long before = server.read().cpuNanos();
    LoadResult result = load.offer(connections, requests, bounds);
    ProcessUsage after = server.read();
    double micros = (after.cpuNanos() - before) / 1e3 / Math.max(1, result.answers());
    return new MeasuredLoad(result, micros, after.residentBytes());
  }

  /** Returns a one-line description. */
  @Override
  public String toString() {
    return "%s; server %.2f µs CPU per decision, %.0f MB resident"
        .formatted(load, cpuMicros, residentBytes / 1e6);
  }
}
