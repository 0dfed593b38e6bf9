package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CircuitBreaker.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CircuitBreakerTest {
  private static final Settings SETTINGS = new Settings(3, 1_000, 100);

  private final ManualTime time = new ManualTime(0);
  private final CircuitBreaker breaker = new CircuitBreaker(time, SETTINGS);

  @Test
  void rejectsNumbersBelowOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Settings(0, 1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new Settings(1, 0, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new Settings(1, 1, 0));
  }

  @Test
  void opensAfterConsecutiveFailures() {
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.failed()).isTrue();
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.allows()).isFalse();
    assertThat(breaker.failed()).isFalse();
  }

  @Test
  void anAnswerBetweenFailuresResetsTheCount() {
    breaker.failed();
    breaker.failed();
    assertThat(breaker.succeeded()).isFalse();
    breaker.failed();
    breaker.failed();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void aStallOpensItByDurationNotByReports() {
    long sent = time.monotonicNanos();
    for (int millis = 1; millis < 1_000; millis++) {
      time.advance(1);
      assertThat(breaker.unanswered(sent)).as("after %d ms", millis).isFalse();
    }
    time.advance(1);
    assertThat(breaker.unanswered(sent)).isTrue();
    assertThat(breaker.unanswered(sent)).as("it is open").isFalse();
    assertThat(breaker.allows()).isFalse();
  }

  @Test
  void oneHangingCallDoesNotOpenItWhileOthersAreAnswered() {
    long sent = time.monotonicNanos();
    for (int i = 0; i < 10; i++) {
      time.advance(999);
      breaker.succeeded();
      assertThat(breaker.unanswered(sent)).isFalse();
    }
    time.advance(1_000);
    assertThat(breaker.unanswered(sent)).isTrue();
  }

  @Test
  void silenceBeforeACallDoesNotCount() {
    time.advance(60_000);
    long sent = time.monotonicNanos();
    time.advance(999);
    assertThat(breaker.unanswered(sent)).isFalse();
  }

  @Test
  void allowsOneProbePerIntervalAndNoBurstAfterALongTime() {
    open();
    time.advance(99);
    assertThat(breaker.allows()).isFalse();
    time.advance(1);
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.allows()).isFalse();
    time.advance(1_000);
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.allows()).isFalse();
  }

  @Test
  void closesOnAnAnswerAndCountsFromZero() {
    open();
    assertThat(breaker.succeeded()).isTrue();
    assertThat(breaker.allows()).isTrue();
    breaker.failed();
    breaker.failed();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void aWallClockStepStartsNoProbe() {
    open();
    time.setWall(1_000_000);
    assertThat(breaker.allows()).isFalse();
  }

  @Test
  void ofManyThreadsOneProbesAndOneIsNotified() throws InterruptedException {
    for (int round = 0; round < 200; round++) {
      CircuitBreaker own = new CircuitBreaker(time, new Settings(4, 1_000, 100));
      AtomicInteger opened = new AtomicInteger();
      inParallel(4, () -> opened.addAndGet(own.failed() ? 1 : 0));
      assertThat(opened).hasValue(1);
      time.advance(100);
      AtomicInteger probes = new AtomicInteger();
      inParallel(4, () -> probes.addAndGet(own.allows() ? 1 : 0));
      assertThat(probes).hasValue(1);
    }
  }

  /** Compares with a model that keeps counts and times in plain fields. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void followsItsStateDiagram(long seed) {
    Random random = new Random(seed);
    ManualTime clock = new ManualTime(0);
    CircuitBreaker real = new CircuitBreaker(clock, SETTINGS);
    int failures = 0;
    long answered = 0;
    long now = 0;
    long probe = Long.MAX_VALUE; // while closed
    for (int step = 0; step < 200; step++) {
      boolean open = probe != Long.MAX_VALUE;
      switch (random.nextInt(5)) {
        case 0 -> {
          assertThat(real.succeeded()).isEqualTo(open);
          failures = 0;
          answered = now;
          probe = Long.MAX_VALUE;
        }
        case 1 -> {
          failures = open ? failures : failures + 1;
          boolean opens = !open && failures == 3;
          assertThat(real.failed()).isEqualTo(opens);
          probe = opens ? now + 100 : probe;
        }
        case 2 -> {
          boolean opens = !open && now - answered >= 1_000;
          assertThat(real.unanswered(0)).isEqualTo(opens);
          probe = opens ? now + 100 : probe;
        }
        case 3 -> {
          boolean probes = open && now >= probe;
          assertThat(real.allows()).isEqualTo(!open || probes);
          probe = probes ? now + 100 : probe;
        }
        default -> {
          clock.advance(350);
          now += 350;
        }
      }
      failures = probe == Long.MAX_VALUE ? failures : 0;
      assertThat(real.isOpen()).isEqualTo(probe != Long.MAX_VALUE);
    }
  }

  static LongStream seeds() {
    return LongStream.range(0, 100);
  }

  private void open() {
    for (int i = 0; i < 3; i++) {
      breaker.failed();
    }
  }

  private static void inParallel(int threads, Runnable action) throws InterruptedException {
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      all.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  if (start.await(240, TimeUnit.SECONDS)) {
                    action.run();
                  }
                } catch (InterruptedException _) {
                  Thread.currentThread().interrupt();
                }
              }));
    }
    start.countDown();
    for (Thread thread : all) {
      thread.join();
    }
  }
}
