package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
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
import org.junit.jupiter.api.Timeout;

/**
 * What an open loop tells of pauses: a client that waits for an answer before it sends the next
 * request would tell of one slow answer where users saw many.
 *
 * <p>Time is not that of the host: it passes only when the sender looks at its clock.
 */
@Timeout(120)
class CoordinatedOmissionTest {
  private static final int PER_SECOND = 100;
  private static final Bounds ONE_SECOND = Bounds.lasting(Duration.ofSeconds(1));
  private static final Duration PERIOD = Duration.ofSeconds(1).dividedBy(PER_SECOND);

  private final Requests requests = new Requests(10);

  @Test
  void aServerThatStallsIsChargedTheWaitOfEveryRequestThatWasDueMeanwhile() throws Exception {
    TimeSource time = new SenderTime(PERIOD, PERIOD);
    try (StallingServer server = StallingServer.untilRequests(PER_SECOND);
        Connections connections = new Connections(server.target(), 2)) {
      LoadResult result = new OpenLoop(PER_SECOND, time).offer(connections, requests, ONE_SECOND);
      // It answers all when the last one is sent, which is one period late, and so 1 s after the
      // first was due.
      assertThat(millis(result.latencies())).isEqualTo(everyTenMillisUpTo(1_000));
    }
  }

  @Test
  void aSenderThatIsStoppedChargesTheDelayToEveryRequestThatItDelayed() throws Exception {
    TimeSource time = new SenderTime(Duration.ofSeconds(2), Duration.ZERO);
    try (NoOpServer server = NoOpServer.start(0);
        Connections connections = new Connections(server.target(), 2)) {
      LoadResult result = new OpenLoop(PER_SECOND, time).offer(connections, requests, ONE_SECOND);
      assertThat(millis(result.latencies())).isEqualTo(everyTenMillisUpTo(2_000));
    }
  }

  /** Of a hundred requests, the last the shortest, since it was due last. */
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

  /** The histogram keeps three digits, and of equal ones the highest. */
  private static Stream<Long> each(HistogramIterationValue value) {
    long millis = Math.round(value.getValueIteratedTo() / 1e6 / 10) * 10;
    return IntStream.range(0, (int) value.getCountAddedInThisIterationStep()).mapToObj(_ -> millis);
  }

  /** At 0 at first; then later by a first step, and by another at each look, of its maker. */
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
