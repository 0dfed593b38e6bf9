package io.throttlekit.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Resources that a process of this (Linux) machine has used.
 *
 * @param cpuNanos user and system time of all its threads, counted in steps of 10 ms
 * @param residentBytes resident memory
 */
public record ProcessUsage(long cpuNanos, long residentBytes) {
  private static final long NANOS_PER_TICK = 10_000_000; // USER_HZ is 100 on every Linux
  private static final int USER_TICKS = 11; // fields of /proc/PID/stat after the name
  private static final int SYSTEM_TICKS = 12;

  /** Reads {@code /proc}. */
  public static ProcessUsage of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    return parse(
        Files.readString(process.resolve("stat")), Files.readAllLines(process.resolve("status")));
  }

  static ProcessUsage parse(String stat, List<String> status) {
    return new ProcessUsage(ticks(stat) * NANOS_PER_TICK, residentBytes(status));
  }

  /** Returns user and system time of a process since it began, in ticks, from its {@code stat}. */
  static long ticks(String stat) {
    // The name stands in parentheses and may itself contain spaces and parentheses.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]);
  }

  private static long residentBytes(List<String> status) {
    for (String line : status) {
      if (line.startsWith("VmRSS:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IllegalArgumentException("no VmRSS: the process has ended");
  }
}
