package io.throttlekit.bench;

import io.throttlekit.bench.machine.ProcessUsage;
import java.io.IOException;

/**
 * A load together with what the server used for it.
 *
 * @param cpuMicros CPU time of the server process per answer, in µs
 * @param residentBytes memory of the server process at the end
 */
record MeasuredLoad(LoadResult load, double cpuMicros, long residentBytes) {

  /** Where a server's usage is read. */
  interface Meter {
    ProcessUsage read() throws IOException;
  }

  static MeasuredLoad of(
      Meter server, Load load, Connections connections, Requests requests, Bounds bounds)
      throws IOException, InterruptedException {
    long before = server.read().cpuNanos();
    LoadResult result = load.offer(connections, requests, bounds);
    ProcessUsage after = server.read();
    double micros = (after.cpuNanos() - before) / 1e3 / Math.max(1, result.answers());
    return new MeasuredLoad(result, micros, after.residentBytes());
  }

  /** One line for people. */
  @Override
  public String toString() {
    return "%s; server %.2f µs CPU per decision, %.0f MB resident"
        .formatted(load, cpuMicros, residentBytes / 1e6);
  }
}
