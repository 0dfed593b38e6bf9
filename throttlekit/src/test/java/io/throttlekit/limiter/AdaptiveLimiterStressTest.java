package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.TestLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that acquire, wait, cancel and end permits concurrently, some of them twice. */
@Timeout(120)
class AdaptiveLimiterStressTest {
  private static final int THREADS = 4;
  private static final int STEPS = 20_000;
  private static final int LIMIT = 5;
  private static final int MAX_QUEUED = 10;

  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(TestLimits.fixed(LIMIT)).queueing(Queueing.of(1, 2)).build();
  private final ConcurrentLinkedQueue<Permit> held = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Permit> ended = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedDeque<PendingPermit> waiting = new ConcurrentLinkedDeque<>();

  /** Permits in use: decremented before one is ended, incremented after one was acquired. */
  private final AtomicInteger live = new AtomicInteger();

  private final AtomicInteger maxLive = new AtomicInteger();
  private final AtomicInteger maxQueued = new AtomicInteger();
  private final LongAdder requested = new LongAdder();
  private final LongAdder notified = new LongAdder();
  private final LongAdder cancelled = new LongAdder();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_122})
  void requestsAreNotifiedOnceAndPermitsAndQueueStayWithinBounds(long seed) throws Exception {
    inParallel(seed);
    for (Permit permit = held.poll(); permit != null; permit = held.poll()) {
      end(permit, 0); // admits waiting requests, whose callbacks run on this thread
    }
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(LIMIT, 0, 0, 0));
    assertThat(notified.sum() + cancelled.sum()).isEqualTo(requested.sum());
    assertThat(live).hasValue(0);
    assertThat(maxLive).hasValue(LIMIT);
    assertThat(maxQueued.get()).isBetween(MAX_QUEUED / 2, MAX_QUEUED);
    assertThat(cancelled.sum()).as("cancelled in time").isGreaterThan(THREADS);
  }

  private void step(RandomGenerator random) {
    switch (random.nextInt(8)) {
      case 0 -> {
        requested.increment();
        Permit permit = limiter.tryAcquire();
        notified.increment();
        if (permit != null) {
          admitted(permit);
        }
      }
      case 1, 2, 3 -> {
        requested.increment();
        waiting.add(limiter.acquire(PermitRequest.PLAIN, permitCallback()));
        maxQueued.accumulateAndGet(limiter.figures().queued(), Math::max);
      }
      case 4 -> {
        PendingPermit handle = waiting.pollLast();
        if (handle != null && handle.cancel()) {
          cancelled.increment();
        }
      }
      case 5 -> {
        Permit again = ended.poll();
        if (again != null) {
          again.record();
        }
      }
      default -> {
        Permit permit = held.poll();
        if (permit != null) {
          end(permit, random.nextInt(3));
        }
      }
    }
  }

  private void end(Permit permit, int how) {
    live.getAndDecrement();
    ended.add(permit); // for another thread, possibly at the same time
    switch (how) {
      case 0 -> permit.record();
      case 1 -> permit.drop();
      default -> permit.release();
    }
  }

  private void admitted(Permit permit) {
    maxLive.accumulateAndGet(live.incrementAndGet(), Math::max);
    held.add(permit);
  }

  private PermitCallback permitCallback() {
    return new PermitCallback() {
      @Override
      public void admitted(Permit permit) {
        notified.increment();
        AdaptiveLimiterStressTest.this.admitted(permit);
      }

      @Override
      public void refused(Refusal why) {
        notified.increment();
      }
    };
  }

  private void inParallel(long seed) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        RandomGenerator random =
            RandomGeneratorFactory.of("L64X128MixRandom").create(seed * THREADS + t);
        runs.add(
            threads.submit(() -> {
              for (int i = 0; i < STEPS; i++) {
                step(random);
              }
            }));
      }
      for (Future<?> run : runs) {
        run.get(100, TimeUnit.SECONDS);
      }
    }
  }
}
