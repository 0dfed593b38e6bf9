package io.throttlekit.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Share of this (Linux) machine's processors that programs used which this one has not started, or
 * that its host withheld, since construction. Thread-safe.
 */
public final class ExternalCpuUse implements AutoCloseable {
  private static final Path PROC = Path.of("/proc");
  // The rest of a process that ends between two samples is unknown.
  private static final long SAMPLE_MILLIS = 500;

  // Fields of the first line of /proc/stat.
  private static final int USER = 1;
  private static final int SYSTEM = 3;
  private static final int STOLEN = StolenTime.STOLEN_TICKS;

  private final ScheduledExecutorService samples =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("others-use").factory());
  private final Supplier<List<Long>> processes;
  private final Map<Long, Long> ticks = new HashMap<>();
  private boolean failed;
  private final Machine before;
  private long own;

  /**
   * Ticks of all processors since the machine was started.
   *
   * @param busy ticks that programs used, or that were stolen
   */
  record Machine(long busy, long all) {

    static Machine parse(String line) {
      String[] fields = line.split(" +", -1);
      long busy = 0;
      long all = 0;
      for (int field = USER; field <= STOLEN; field++) {
        long value = Long.parseLong(fields[field]);
        all += value;
        busy += field <= SYSTEM || field == STOLEN ? value : 0;
      }
      return new Machine(busy, all);
    }

    /** Returns the share of all ticks since then that other programs used. */
    double others(Machine since, long own) {
      return Math.max(0, busy - since.busy - own) / (double) Math.max(1, all - since.all);
    }
  }

  /** Starts to sample. */
  public ExternalCpuUse() throws IOException {
    this(ExternalCpuUse::ownProcesses);
  }

  /**
   * Starts to sample.
   *
   * @param processes the ids of this process and of those that it has started
   */
  ExternalCpuUse(Supplier<List<Long>> processes) throws IOException {
    this.processes = processes;
    sample();
    own = 0;
    before = machine();
    var _ =
        samples.scheduleWithFixedDelay(
            this::sample, SAMPLE_MILLIS, SAMPLE_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Returns the share from 0 to 1; not a number where a sample failed. */
  public synchronized double share() throws IOException {
    sample();
    return failed ? Double.NaN : machine().others(before, own);
  }

  private static Machine machine() throws IOException {
    return Machine.parse(Files.readAllLines(PROC.resolve("stat")).getFirst());
  }

  private static List<Long> ownProcesses() {
    ProcessHandle self = ProcessHandle.current();
    List<Long> pids = new ArrayList<>(self.descendants().map(ProcessHandle::pid).toList());
    pids.add(self.pid());
    return pids;
  }

  /** Samples; an exception would end all later samples. */
  private synchronized void sample() {
    try {
      addUse();
    } catch (RuntimeException _) {
      failed = true;
    }
  }

  /** Adds the ticks since the last sample; the rest of a process that ends is unknown. */
  private void addUse() {
    Map<Long, Long> now = new HashMap<>();
    for (long pid : processes.get()) {
      try {
        now.put(pid, ProcessUsage.ticks(Files.readString(PROC.resolve(pid + "/stat"))));
      } catch (IOException _) {
        // it has ended since it was listed
      }
    }
    now.forEach((pid, used) -> own += used - Math.min(used, ticks.getOrDefault(pid, 0L)));
    ticks.clear();
    ticks.putAll(now);
  }

  @Override
  public void close() {
    samples.shutdownNow();
  }
}
