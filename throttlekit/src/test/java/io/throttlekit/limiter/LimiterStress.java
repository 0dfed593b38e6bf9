package io.throttlekit.limiter;

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
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/**
 * Threads that acquire, wait for, cancel and end permits of one limiter concurrently, some of them
 * twice.
 */
final class LimiterStress {
  static final int THREADS = 4;

  final AdaptiveLimiter limiter;

  /** Permits in use: decremented before one is ended, incremented after one was acquired. */
  final AtomicInteger live = new AtomicInteger();

  final AtomicInteger maxLive = new AtomicInteger();
  final AtomicInteger maxQueued = new AtomicInteger();
  final LongAdder requested = new LongAdder();
  final LongAdder notified = new LongAdder();
  final LongAdder cancelled = new LongAdder();

  private final ConcurrentLinkedQueue<Permit> held = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Permit> ended = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedDeque<PendingPermit> waiting = new ConcurrentLinkedDeque<>();

  LimiterStress(AdaptiveLimiter limiter) {
    this.limiter = limiter;
  }

  /**
   * Runs the threads, and then ends what they hold.
   *
   * @param steps of each thread
   * @param requests returns the next request of a thread
   */
  void run(long seed, int steps, Function<RandomGenerator, PermitRequest> requests)
      throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        RandomGenerator random =
            RandomGeneratorFactory.of("L64X128MixRandom").create(seed * THREADS + t);
        runs.add(
            threads.submit(() -> {
              for (int i = 0; i < steps; i++) {
                step(random, requests.apply(random));
              }
            }));
      }
      for (Future<?> run : runs) {
        run.get(240, TimeUnit.SECONDS);
      }
    }
    do {
      finish(); // a timer may admit others meanwhile
    } while (limiter.figures().inFlight() + limiter.figures().queued() > 0);
  }

  private void step(RandomGenerator random, PermitRequest request) {
    switch (random.nextInt(8)) {
      case 0 -> {
        requested.increment();
        Permit permit = limiter.tryAcquire(request);
        notified.increment();
        if (permit != null) {
          admitted(permit);
        }
      }
      case 1, 2, 3 -> {
        requested.increment();
        waiting.add(limiter.acquire(request, permitCallback()));
        maxQueued.accumulateAndGet(limiter.figures().queued(), Math::max);
      }
      case 4 -> cancel(waiting.pollLast());
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

  private void finish() {
    for (Permit permit = held.poll(); permit != null; permit = held.poll()) {
      end(permit, 0); // admits waiting requests, whose callbacks run on this thread
    }
    for (PendingPermit each = waiting.poll(); each != null; each = waiting.poll()) {
      cancel(each);
    }
  }

  private void cancel(@Nullable PendingPermit handle) {
    if (handle != null && handle.cancel()) {
      cancelled.increment();
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
        LimiterStress.this.admitted(permit);
      }

      @Override
      public void refused(Refusal why) {
        notified.increment();
      }
    };
  }
}
