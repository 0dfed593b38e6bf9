package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions that lease and return concurrently, over their own connections, in short windows. */
@RealRedis
class RedisLeasingRaceTest {
  private static final int REGIONS = 4;
  private static final int THREADS_EACH = 3;
  private static final int STEPS = 500;
  private static final long LIMIT = 20;
  private static final long WINDOW = 200;
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final Budget budget = Leased.budget("a", LIMIT, WINDOW);

  /** Leased units by window: at any moment at least as many as in Redis. */
  private final Map<Long, AtomicLong> out = new ConcurrentHashMap<>();

  private final Map<Long, Long> most = new ConcurrentHashMap<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noWindowIsLeasedBeyondItsBudget(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    List<RedisGlobalCoordinator> coordinators = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int region = 0; region < REGIONS; region++) {
        RedisGlobalCoordinator coordinator =
            Stores.coordinator(Stores.longDeadlines(redis.url()), StoreListener.NONE);
        coordinators.add(coordinator);
        for (int thread = 0; thread < THREADS_EACH; thread++) {
          String name = "r" + region;
          String ids = thread + "/";
          SplittableRandom own = random.split();
          Callable<Boolean> work = () -> leaseAndReturn(coordinator, name, ids, own);
          running.add(threads.submit(work));
        }
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      coordinators.forEach(RedisGlobalCoordinator::close);
    }
    assertThat(most.values()).as("seed %d", seed).allMatch(units -> units <= LIMIT);
    assertThat(most.values()).as("some window was used up, seed %d", seed).contains(LIMIT);
    assertThat(most).as("windows, seed %d", seed).hasSizeGreaterThan(2);
  }

  private boolean leaseAndReturn(
      RedisGlobalCoordinator coordinator, String region, String ids, SplittableRandom random) {
    List<LeaseGrant> held = new ArrayList<>();
    long windowEnd = BudgetLease.CURRENT;
    for (int step = 0; step < STEPS; step++) {
      if (held.isEmpty() || random.nextInt(3) > 0) {
        long wanted = random.nextInt(4) > 0 ? BudgetLease.CURRENT : windowEnd;
        long units = random.nextLong(1, 15);
        LeaseGrant grant =
            answer(
                coordinator.lease(new BudgetLease(budget, region, wanted, units, DataLoss.REFILL)));
        windowEnd = grant.windowEndMillis() + WINDOW; // often the next window
        if (grant.units() > 0) {
          count(grant.windowEndMillis(), grant.units());
          held.add(grant);
        }
      } else {
        LeaseGrant back = held.remove(random.nextInt(held.size()));
        long units = random.nextLong(1, back.units() + 1);
        count(back.windowEndMillis(), -units); // once sent, they may be leased again
        BudgetReturn sent =
            new BudgetReturn(budget, region, ids + step, back.windowEndMillis(), units);
        List.of(coordinator.reconcile(sent), coordinator.reconcile(sent)) // a repeated return
            .forEach(StoreCalls::answer);
      }
    }
    return true;
  }

  private void count(long windowEnd, long units) {
    long now = out.computeIfAbsent(windowEnd, _ -> new AtomicLong()).addAndGet(units);
    most.merge(windowEnd, now, Math::max);
  }
}
