package io.throttlekit.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Time that the host withheld from this (Linux) machine's processors, which explains latencies that
 * nothing else does.
 */
public final class StolenTime {
  private static final Path STAT = Path.of("/proc/stat");
  static final int STOLEN_TICKS = 8; // the field of the first line, after its name
  private static final long MILLIS_PER_TICK = 10; // USER_HZ is 100 on every Linux

  private final long beforeMillis;

  private StolenTime(long beforeMillis) {
    this.beforeMillis = beforeMillis;
  }

  /** Starts to count. */
  public static StolenTime sinceNow() throws IOException {
    return new StolenTime(read());
  }

  /** Returns the stolen time of all processors together, in ms. */
  public long millis() throws IOException {
    return read() - beforeMillis;
  }

  private static long read() throws IOException {
    return parse(Files.readAllLines(STAT));
  }

  /** Returns the stolen time since the machine was started, in ms. */
  static long parse(List<String> stat) {
    String[] fields = stat.getFirst().split(" +", -1);
    return Long.parseLong(fields[STOLEN_TICKS]) * MILLIS_PER_TICK;
  }
}
