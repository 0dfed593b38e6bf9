package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that acquire, wait, cancel and end permits of several tenants concurrently. */
@Timeout(120)
class TenantLimiterStressTest {
  private static final int THREADS = 4;
  private static final int STEPS = 10_000;
  private static final int LIMIT = 7;

  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(TestLimits.fixed(LIMIT))
          .queueing(Queueing.of(1, 2))
          .tenants(new TenantTerms(FairTerms.ALL / 2, 4, 1_000_000))
          .build();
  private final ConcurrentLinkedQueue<Permit> held = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedDeque<PendingPermit> waiting = new ConcurrentLinkedDeque<>();

  /** Permits in use: decremented before one is ended, incremented after one was acquired. */
  private final AtomicInteger live = new AtomicInteger();

  private final AtomicInteger maxLive = new AtomicInteger();
  private final LongAdder requested = new LongAdder();
  private final LongAdder notified = new LongAdder();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_126})
  void requestsAreNotifiedOnceAndNoPermitIsLost(long seed) throws Exception {
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
    while (limiter.figures().inFlight() + limiter.figures().queued() > 0) {
      finish(); // a timer may admit others meanwhile
    }
    finish();
    assertThat(limiter.figures()).isEqualTo(new LimiterFigures(LIMIT, 0, 0, 0));
    assertThat(notified.sum()).isEqualTo(requested.sum());
    assertThat(live).hasValue(0);
    assertThat(maxLive).hasValue(LIMIT);
    for (int i = 0; i < 9; i++) {
      assertThat(Objects.requireNonNull(limiter.figures(tenant(i))).inFlight()).isZero();
    }
    assertThat(Objects.requireNonNull(limiter.shareFigures()).borrowed()).isZero();
  }

  private void step(RandomGenerator random) {
    PermitTenant tenant = tenant(random.nextInt(9));
    PermitRequest request = new PermitRequest(0, null, Queueing.NO_TIMEOUT, tenant);
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
      }
      case 4 -> cancel(waiting.pollLast());
      default -> {
        Permit permit = held.poll();
        if (permit != null) {
          end(permit, random.nextBoolean());
        }
      }
    }
  }

  private void finish() {
    for (Permit permit = held.poll(); permit != null; permit = held.poll()) {
      end(permit, true); // admits waiting requests, whose callbacks run on this thread
    }
    for (PendingPermit each = waiting.poll(); each != null; each = waiting.poll()) {
      cancel(each);
    }
  }

  private void cancel(@Nullable PendingPermit handle) {
    if (handle != null && handle.cancel()) {
      notified.increment();
    }
  }

  /** Tenants 6 to 8 have no listed weight, and the weight of tenant 0 changes. */
  private PermitTenant tenant(int number) {
    return new PermitTenant(
        "t" + number,
        number >= 6
            ? TenantWeight.unlisted(1)
            : TenantWeight.listed(number == 0 ? 1 + live.get() % 3 : number));
  }

  private void end(Permit permit, boolean records) {
    live.getAndDecrement();
    if (records) {
      permit.record();
    } else {
      permit.release();
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
        TenantLimiterStressTest.this.admitted(permit);
      }

      @Override
      public void refused(Refusal why) {
        notified.increment();
      }
    };
  }
}
