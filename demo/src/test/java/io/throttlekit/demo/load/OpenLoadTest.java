package io.throttlekit.demo.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.simulator.concurrency.Chance;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OpenLoadTest {
  private static final int SECONDS = 20;
  private static final int LATER = SECONDS + 5;

  private final EventLoop loop = new DefaultEventLoop();

  private record Sent(int second, long nanos) {}

  @AfterEach
  void shutDown() {
    var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void sendsAtTheRateOfEachSecondAndStops() throws Exception {
    List<Sent> sent = sentBySeed(1);
    for (int second = 0; second < SECONDS; second++) {
      int of = second;
      double expected = rate(second);
      assertThat(sent.stream().filter(one -> one.second == of).count())
          .as("second %d", second)
          .isBetween((long) (expected * 0.7), (long) (expected * 1.3));
    }
    assertThat(sent).allMatch(one -> one.nanos / 1_000_000_000L == one.second);
    assertThat(sent).isSortedAccordingTo((one, other) -> Long.compare(one.nanos, other.nanos));
    assertThat(sent.getLast().second).isEqualTo(SECONDS - 1);
  }

  @Test
  void arrivalsAreIndependentAndReproducibleBySeed() throws Exception {
    List<Sent> sent = sentBySeed(1);
    assertThat(sentBySeed(1)).isEqualTo(sent);
    assertThat(sentBySeed(2)).isNotEqualTo(sent);
    List<Long> gaps = // exponential: deviation and mean are the same
        sent.stream().filter(one -> one.second < SECONDS / 2).map(Sent::nanos).toList();
    double mean = (gaps.getLast() - gaps.getFirst()) / (gaps.size() - 1.0);
    double square = 0;
    for (int i = 1; i < gaps.size(); i++) {
      square += Math.pow(gaps.get(i) - gaps.get(i - 1) - mean, 2);
    }
    assertThat(Math.sqrt(square / (gaps.size() - 1)) / mean).isBetween(0.9, 1.1);
  }

  /** Runs long after the end, so that all requests are sent at once. */
  private List<Sent> sentBySeed(long seed) throws InterruptedException {
    Queue<Sent> sent = new ConcurrentLinkedQueue<>();
    TimeSource later =
        new TimeSource() {
          @Override
          public long wallMillis() {
            return 1_000L * LATER;
          }

          @Override
          public long monotonicNanos() {
            return 1_000_000_000L * LATER;
          }
        };
    OpenLoad load =
        new OpenLoad(
            loop,
            new Chance(seed, 1),
            SECONDS,
            OpenLoadTest::rate,
            (second, nanos) -> sent.add(new Sent(second, nanos)),
            Duration.ofMillis(1),
            later);
    load.start(0);
    load.awaitAnswers();
    assertThat(load.latestNanos(0, SECONDS)).isEqualTo(later.monotonicNanos()); // the first
    assertThat(load.latestNanos(SECONDS - 1, SECONDS)).isBetween(5_000_000_000L, 6_000_000_000L);
    return List.copyOf(sent);
  }

  private static double rate(int second) {
    return second < SECONDS / 2 ? 200 : 1_000;
  }
}
