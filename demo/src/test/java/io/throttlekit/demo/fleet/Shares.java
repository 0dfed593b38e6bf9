package io.throttlekit.demo.fleet;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Reads the shares of all Envoys from their admin interfaces twenty times a second.
 *
 * <p>The Envoys are read one after another, so a share that moves meanwhile could be counted twice.
 * Therefore a reading counts only if the next one is equal: between the two, all Envoys applied
 * just these shares.
 *
 * <p>Thread-safe.
 */
final class Shares implements AutoCloseable {
  private static final long INTERVAL_MILLIS = 50;

  /** Longest list of sums above the limit; the first ones explain more than the last. */
  private static final int MAX_VIOLATIONS = 20;

  private final List<Share> envoys;
  private final int limit;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("shares").factory());
  private final List<String> violations = new ArrayList<>();
  private final long[] aboveZeroNanos;
  private final TimeSource time;
  private List<Integer> last = List.of();
  private int read;
  private int counted;
  private int max;
  private long longestAtZeroNanos;
  private long readNanos;
  private long longestGapNanos;
  private @Nullable IOException failure;

  /** The share of an Envoy. */
  @FunctionalInterface
  interface Share {
    /** Reads it now; −1 while there is none. */
    int read() throws IOException;
  }

  /**
   * @param limit sums above it are violations
   */
  Shares(List<Share> envoys, int limit, TimeSource time) {
    this.envoys = envoys;
    this.limit = limit;
    this.time = time;
    this.aboveZeroNanos = new long[envoys.size()];
    this.readNanos = time.monotonicNanos();
    Arrays.fill(aboveZeroNanos, readNanos);
  }

  /**
   * What was read.
   *
   * @param read number of readings
   * @param counted number of those that count
   * @param max highest sum
   * @param violations readings whose sum was above the limit, at most 20 of them
   * @param longestAtZeroMillis longest time between two readings above 0 of an Envoy
   * @param longestGapMillis longest time between two readings, by which a busy machine is known
   */
  record Figures(
      int read,
      int counted,
      int max,
      List<String> violations,
      long longestAtZeroMillis,
      long longestGapMillis) {}

  /** Starts to read. */
  void start() {
    var _ = clock.scheduleAtFixedRate(this::readAll, 0, INTERVAL_MILLIS, MILLISECONDS);
  }

  /** Returns the newest shares in the order of the Envoys. */
  synchronized List<Integer> newest() {
    return last;
  }

  /**
   * Returns what was read since the start.
   *
   * @throws IOException if an Envoy did not answer
   */
  synchronized Figures figures() throws IOException {
    if (failure != null) {
      throw new IOException("an Envoy does not show its share", failure);
    }
    return new Figures(
        read,
        counted,
        max,
        List.copyOf(violations),
        longestAtZeroNanos / 1_000_000,
        longestGapNanos / 1_000_000);
  }

  /** Reads all shares once. */
  void readAll() {
    try {
      List<Integer> shares = new ArrayList<>();
      for (Share envoy : envoys) {
        shares.add(envoy.read());
      }
      add(shares);
    } catch (IOException e) {
      failed(e);
    }
  }

  private synchronized void failed(IOException e) {
    failure = e;
  }

  private synchronized void add(List<Integer> shares) {
    read++;
    long now = time.monotonicNanos();
    longestGapNanos = Math.max(longestGapNanos, now - readNanos);
    readNanos = now;
    for (int i = 0; i < aboveZeroNanos.length; i++) {
      longestAtZeroNanos = Math.max(longestAtZeroNanos, now - aboveZeroNanos[i]);
      if (shares.get(i) > 0) {
        aboveZeroNanos[i] = now;
      }
    }
    if (shares.equals(last)) {
      counted++;
      int sum = shares.stream().mapToInt(share -> Math.max(share, 0)).sum();
      max = Math.max(max, sum);
      if (sum > limit && violations.size() < MAX_VIOLATIONS) {
        violations.add(sum + " = " + shares);
      }
    }
    last = List.copyOf(shares);
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
