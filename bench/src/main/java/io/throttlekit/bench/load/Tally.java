package io.throttlekit.bench.load;

import io.throttlekit.bench.command.Bounds;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.HdrHistogram.ConcurrentHistogram;

/** Counts the replies of one load. Thread-safe. */
final class Tally {
  // Longest latency recorded.
  private static final long MAX_NANOS = 60_000_000_000L;
  private static final byte OVERALL_CODE_TAG = 8; // field 1 of RateLimitResponse, varint
  private static final byte OVER_LIMIT = 2; // the code's number in Envoy's protocol

  private final long startNanos;
  private final ConcurrentHistogram latencies = new ConcurrentHistogram(MAX_NANOS, 3);
  private final LongAdder refused = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final AtomicLongArray answersPerSecond;

  Tally(long startNanos, Bounds bounds) {
    this.startNanos = startNanos;
    // toSeconds() rounds down, and replies arrive after the end.
    this.answersPerSecond = new AtomicLongArray((int) bounds.time().toSeconds() + 2);
  }

  /** Counts a reply. */
  void answered(long sinceNanos, long nowNanos, byte[] reply) {
    latencies.recordValue(Math.clamp(nowNanos - sinceNanos, 1, MAX_NANOS));
    int second = (int) ((nowNanos - startNanos) / 1_000_000_000L);
    if (second < answersPerSecond.length()) {
      answersPerSecond.getAndIncrement(second);
    }
    if (reply.length > 1 && reply[0] == OVERALL_CODE_TAG && reply[1] == OVER_LIMIT) {
      refused.increment();
    }
  }

  /** Counts a call that ended without a reply. */
  void failed() {
    failed.increment();
  }

  long failures() {
    return failed.sum();
  }

  LoadResult result(long endNanos) {
    return new LoadResult(
        latencies.getTotalCount(),
        refused.sum(),
        failed.sum(),
        endNanos - startNanos,
        latencies.copy(),
        LongStream.range(0, answersPerSecond.length())
            .map(second -> answersPerSecond.get((int) second))
            .boxed()
            .toList());
  }
}
