package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.load.LoadResult;
import io.throttlekit.bench.load.OpenLoop;
import io.throttlekit.bench.load.Requests;
import io.throttlekit.bench.server.NoOpServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.HistogramIterationValue;
import org.junit.jupiter.api.Test;

/**
 * Tests that an open loop reports pauses in full: a client that waits for an answer before it sends
 * the next request would report one slow answer where users saw many.
 *
 * <p>Time is simulated: it passes only when the sender reads its clock.
 */
class CoordinatedOmissionTest {
  private static final int PER_SECOND = 100;
  private static final Bounds ONE_SECOND = Bounds.lasting(Duration.ofSeconds(1));
  private static final Duration PERIOD = Duration.ofSeconds(1).dividedBy(PER_SECOND);

  private final Requests requests = new Requests(10);

  @Test
  void aStallCountsAgainstEveryRequestDueDuringIt() throws Exception {
    TimeSource time = new SenderTime(PERIOD, PERIOD);
    try (StallingServer server = StallingServer.untilRequests(PER_SECOND);
        Connections connections = new Connections(server.target(), 2)) {
      LoadResult result = new OpenLoop(PER_SECOND, time).offer(connections, requests, ONE_SECOND);
      // The server answers all after the last one was sent, one period late, and so 1 s after the
      // first was due.
      assertThat(millis(result.latencies())).isEqualTo(everyTenMillisUpTo(1_000));
    }
  }

  @Test
  void aPausedSenderAddsItsDelayToEveryDelayedRequest() throws Exception {
    TimeSource time = new SenderTime(Duration.ofSeconds(2), Duration.ZERO);
    try (NoOpServer server = NoOpServer.start(0);
        Connections connections = new Connections(server.target(), 2)) {
      LoadResult result = new OpenLoop(PER_SECOND, time).offer(connections, requests, ONE_SECOND);
      assertThat(millis(result.latencies())).isEqualTo(everyTenMillisUpTo(2_000));
    }
  }

  /**
   * Returns the latencies of a hundred requests; the last one's is the shortest, since it was due
   * last.
   */
  private static List<Long> everyTenMillisUpTo(int longest) {
    return LongStream.rangeClosed(1, PER_SECOND)
        .map(i -> longest - (PER_SECOND - i) * PERIOD.toMillis())
        .boxed()
        .toList();
  }

  private static List<Long> millis(AbstractHistogram latencies) {
    return StreamSupport.stream(latencies.recordedValues().spliterator(), false)
        .flatMap(CoordinatedOmissionTest::each)
        .toList();
  }

  /** Expands a value of the histogram, which keeps three digits and the highest of equal values. */
  private static Stream<Long> each(HistogramIterationValue value) {
    long millis = Math.round(value.getValueIteratedTo() / 1e6 / 10) * 10;
    return IntStream.range(0, (int) value.getCountAddedInThisIterationStep()).mapToObj(_ -> millis);
  }

  /**
   * Clock at 0 until its creator reads it; then advances by a first step, and by another at each
   * further reading.
   */
  private static final class SenderTime implements TimeSource {
    private final long sender = Thread.currentThread().threadId();
    private final long later;
    private long step;
    private boolean begun;
    private final AtomicLong now = new AtomicLong();

    SenderTime(Duration first, Duration later) {
      this.step = first.toNanos();
      this.later = later.toNanos();
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      if (Thread.currentThread().threadId() == sender) {
        if (begun) {
          now.addAndGet(step);
          step = later;
        }
        begun = true;
      }
      return now.get();
    }
  }
}
