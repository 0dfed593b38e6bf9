package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.service.server.Book;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConcurrencyLimiterTest {
  private static final int STEPS = 4_000;
  private static final long TTL_MILLIS = 1_000;

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final RecordingConcurrencyListener limiterEvents = new RecordingConcurrencyListener();
  private final Rule rule = rule("min: 3, max: 3, lease: {ttl: 1s}");

  /** The requests in flight equal the open leases, for any order of events. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 20_261_122})
  void inFlightEqualsTheSlotsOfLiveLeases(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    ConcurrencyLimiter gate = concurrencyLimiter(2, 1_000);
    List<RequestPermit> live = new ArrayList<>();
    List<RequestPermit> over = new ArrayList<>();
    Set<RequestPermit> endedBySomebody = new HashSet<>();
    for (int step = 0; step < STEPS; step++) {
      int stale = limiterEvents.stale.get();
      int ends = limiterEvents.ends.size();
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> {
          RequestPermit lease = enter(gate, "k" + random.nextInt(4)).lease;
          if (lease != null) {
            live.add(lease);
          }
        }
        case 3 -> { // released by the stream's end
          RequestPermit lease = taken(random, live);
          if (lease != null) {
            gate.permits().streamDone(lease.id(), StreamReport.NONE);
            assertThat(limiterEvents.ends).hasSize(ends + 1);
            over.add(lease);
          }
        }
        case 4 -> { // a duplicate, or late
          RequestPermit lease = taken(random, over);
          if (lease != null) {
            gate.permits().streamDone(lease.id(), StreamReport.NONE);
            assertThat(limiterEvents.stale).hasValue(stale + 1);
            over.add(lease);
          }
        }
        case 5 -> { // cancelled, open or ended
          RequestPermit lease = taken(random, random.nextBoolean() ? live : over);
          if (lease != null) {
            lease.cancelled();
            over.add(lease);
          }
        }
        case 6 -> {
          time.advance(random.nextLong(TTL_MILLIS / 4));
          timer.run();
          live.removeIf(lease -> lease.isDue(time.monotonicNanos()) && over.add(lease));
        }
        default -> gate.permits().streamDone("forged-" + step, StreamReport.NONE);
      }
      assertThat(gate.permits().size()).isEqualTo(live.size());
      assertThat(inFlight(gate)).isEqualTo(live.size());
      assertThat(limiterEvents.leased.get() - limiterEvents.ends.size()).isEqualTo(live.size());
    }
    endedBySomebody.addAll(over);
    assertThat(endedBySomebody).hasSize(limiterEvents.ends.size());
    assertThat(EnumSet.copyOf(limiterEvents.ends))
        .containsExactlyInAnyOrder(PermitEnd.STREAM_DONE, PermitEnd.CANCELLED, PermitEnd.EXPIRED);
    assertThat(limiterEvents.refusals).contains(Refusal.LIMIT_REACHED);
    live.forEach(lease -> gate.permits().streamDone(lease.id(), StreamReport.NONE));
    assertThat(inFlight(gate)).isZero();
  }

  @Test
  void concurrentEndsOfALeaseEndItOnce() throws Exception {
    ConcurrencyLimiter gate = concurrencyLimiter(2, 1_000);
    for (int round = 0; round < 300; round++) {
      RequestPermit lease = Objects.requireNonNull(enter(gate, "k").lease);
      CountDownLatch go = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        boolean cancels = t % 2 == 0;
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  await(go);
                  if (cancels) {
                    lease.cancelled();
                  } else {
                    gate.permits().streamDone(lease.id(), StreamReport.NONE);
                  }
                }));
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(limiterEvents.ends).hasSize(round + 1);
      assertThat(inFlight(gate)).isZero();
    }
  }

  @Test
  void aRequestThatMatchesALimitTwiceIsInFlightOnce() {
    ConcurrencyLimiter gate = concurrencyLimiter(2, 1_000);
    SlotResult entered =
        new SlotResult(gate, 0, wanted(rule, "k"), wanted(rule, "k"), wanted(rule, "other"));
    assertThat(entered.lease).isNotNull();
    assertThat(inFlight(gate)).isEqualTo(2);
    Objects.requireNonNull(entered.lease).cancelled();
    assertThat(inFlight(gate)).isZero();
  }

  @Test
  void aRequestRefusedByOneLimitIsNotInFlightBelowAnother() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    for (int i = 0; i < 3; i++) {
      assertThat(enter(gate, "full").lease).isNotNull();
    }
    SlotResult entered = new SlotResult(gate, 0, wanted(rule, "free"), wanted(rule, "full"));
    assertThat(entered.refused).isTrue();
    assertThat(inFlight(gate)).isEqualTo(3);
  }

  @Test
  void aRequestCancelledInTheQueueAcquiresNothing() {
    Rule queued = rule("min: 1, max: 1, queue: {}");
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    RequestPermit first =
        Objects.requireNonNull(new SlotResult(gate, 0, wanted(queued, "k")).lease);
    SlotResult leaves = new SlotResult(gate, 1_000_000_000, wanted(rule, "z"), wanted(queued, "k"));
    SlotResult waits = new SlotResult(gate, 1_000_000_000, wanted(queued, "k"));
    assertThat(inFlight(gate)).isEqualTo(2);
    leaves.acquisition.cancel();
    assertThat(inFlight(gate)).isEqualTo(1);
    gate.permits().streamDone(first.id(), StreamReport.NONE);
    assertThat(waits.lease).isNotNull();
    assertThat(leaves.lease).isNull();
    assertThat(leaves.refused).isFalse();
    assertThat(inFlight(gate)).isEqualTo(1);
  }

  @Test
  void aQueuedRequestIsRefusedAtItsTimeout() {
    Rule queued = rule("min: 1, max: 1, queue: {}");
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    assertThat(new SlotResult(gate, 0, wanted(queued, "k")).lease).isNotNull();
    SlotResult waits = new SlotResult(gate, 5_000_000, wanted(queued, "k"));
    assertThat(waits.refused).isFalse();
    time.advance(10);
    timer.run();
    assertThat(waits.refused).isTrue();
    assertThat(limiterEvents.refusals).containsExactly(Refusal.WAITED_TOO_LONG);
    assertThat(inFlight(gate)).isEqualTo(1);
  }

  @Test
  void limitsInFlightAreNeverEvictedAndIdleOnesAreBounded() {
    ConcurrencyLimiter gate = concurrencyLimiter(5, 1_000);
    List<RequestPermit> held = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      held.add(Objects.requireNonNull(enter(gate, "held" + i).lease));
      for (int j = 0; j < 20; j++) {
        Objects.requireNonNull(enter(gate, "idle" + i + "-" + j).lease).cancelled();
      }
    }
    assertThat(inFlight(gate)).isEqualTo(20);
    for (int i = 0; i < 20; i++) { // each still refers to its own request
      assertThat(enter(gate, "held" + i).lease).isNotNull();
      assertThat(enter(gate, "held" + i).lease).isNotNull();
      assertThat(enter(gate, "held" + i).refused).isTrue();
    }
    held.forEach(RequestPermit::cancelled);
    AtomicLong known = new AtomicLong();
    gate.limits().forEach((_, _) -> known.incrementAndGet());
    assertThat(known).hasValueBetween(20, 25);
  }

  @Test
  void leasesBeyondTheMaximumAreRefusedAndHoldNothing() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 2);
    assertThat(enter(gate, "k").lease).isNotNull();
    RequestPermit second = Objects.requireNonNull(enter(gate, "k").lease);
    assertThat(enter(gate, "k").refused).isTrue();
    assertThat(inFlight(gate)).isEqualTo(2);
    assertThat(limiterEvents.noRoom).hasValue(1);
    second.cancelled();
    assertThat(enter(gate, "k").lease).isNotNull();
  }

  @Test
  void anotherAlgorithmOrRangeKeepsLeasesInFlight() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    for (int i = 0; i < 3; i++) {
      assertThat(enter(gate, "k").lease).isNotNull();
    }
    Rule larger = rule("algorithm: aimd, min: 4, max: 4, lease: {ttl: 1s}");
    assertThat(new SlotResult(gate, 0, wanted(larger, "k")).lease).isNotNull();
    assertThat(new SlotResult(gate, 0, wanted(larger, "k")).refused).isTrue();
    Rule smaller = rule("min: 2, max: 2");
    assertThat(new SlotResult(gate, 0, wanted(smaller, "k")).refused).isTrue();
    assertThat(inFlight(gate)).isEqualTo(4);
  }

  @Test
  void everyAlgorithmOfThePoliciesIsImplemented() {
    for (ConcurrencyRule.LimitAlgorithm algorithm : ConcurrencyRule.LimitAlgorithm.values()) {
      ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
      Rule by = rule("algorithm: " + algorithm.id() + ", min: 1, max: 1");
      assertThat(new SlotResult(gate, 0, wanted(by, "k")).lease).isNotNull();
      assertThat(new SlotResult(gate, 0, wanted(by, "k")).refused).isTrue();
    }
  }

  @Test
  void lowPrioritiesAreRefusedFirstWhileTheQueueIsFillingUp() {
    Rule levelled = rule("min: 2, max: 2, priority: {entry: p}, queue: {initial: 1, max: 3}");
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    for (String priority : List.of("100", "100", "100", "high", "low", "399")) {
      assertThat(waiting(gate, levelled, priority).refused).isFalse();
    }
    assertThat(waiting(gate, levelled, "very_low").refused).as("not calibrated").isFalse();
    time.advance(1_000);
    timer.run();
    assertThat(waiting(gate, levelled, "very_low").refused).isTrue();
    assertThat(waiting(gate, levelled, "99").refused).isTrue();
    assertThat(waiting(gate, levelled, "VERY_HIGH").refused).isFalse();
    assertThat(limiterEvents.refusals)
        .containsExactly(Refusal.PRIORITY_TOO_LOW, Refusal.PRIORITY_TOO_LOW);
  }

  @Test
  void noRequestIsRefusedAfterAnOverload() {
    Rule levelled = rule("min: 2, max: 2, priority: {entry: p}, queue: {initial: 1, max: 3}");
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    List<SlotResult> all = new ArrayList<>();
    for (String priority : List.of("100", "100", "100", "high", "low", "399", "high")) {
      all.add(waiting(gate, levelled, priority));
    }
    time.advance(1_000);
    timer.run(); // now there is a threshold
    assertThat(waiting(gate, levelled, "very_low").refused).isTrue();
    for (int round = 0; round < all.size(); round++) {
      all.stream()
          .map(each -> each.lease)
          .filter(Objects::nonNull)
          .forEach(RequestPermit::cancelled);
    }
    assertThat(gate.permits().size()).isZero();
    time.advance(600_000);
    timer.run();
    for (int i = 0; i < 3; i++) {
      assertThat(waiting(gate, levelled, "low").refused).isFalse();
    }
  }

  @Test
  void changedQueueSettingsApplyOnceNothingIsInFlight() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    RequestPermit first = new SlotResult(gate, 0, wanted(rule("min: 1, max: 1"), "k")).lease;
    Rule after = rule("min: 1, max: 1, queue: {}");
    assertThat(new SlotResult(gate, 1_000_000_000, wanted(after, "k")).refused).isTrue();
    Objects.requireNonNull(first).cancelled();
    assertThat(new SlotResult(gate, 1_000_000_000, wanted(after, "k")).lease).isNotNull();
    assertThat(new SlotResult(gate, 1_000_000_000, wanted(after, "k")).refused).isFalse();
  }

  @Test
  void inShadowModeARequestIsAdmittedWithoutAFreeLease() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1);
    Rule many = rule("min: 9, max: 9");
    assertThat(new SlotResult(gate, 0, shadow(many, "k")).lease).isNotNull();
    SlotResult second = new SlotResult(gate, 0, shadow(many, "k"));
    assertThat(second.refused).isFalse();
    assertThat(second.lease).isNull();
    assertThat(limiterEvents.noRoom).hasValue(1);
    assertThat(inFlight(gate)).isEqualTo(1);
    assertThat(new SlotResult(gate, 0, wanted(many, "k")).refused).isTrue();
  }

  @Test
  void leaseIdsNameTheirProcessAndCannotBeGuessed() {
    ConcurrencyLimiter gate = concurrencyLimiter(10, 1_000);
    String one = Objects.requireNonNull(enter(gate, "k").lease).id();
    String two = Objects.requireNonNull(enter(gate, "k").lease).id();
    String other = Objects.requireNonNull(enter(concurrencyLimiter(10, 10), "k").lease).id();
    assertThat(one).matches("[0-9a-z]+-[0-9a-z]+-1-[0-9a-f]{16}");
    assertThat(two).startsWith(one.substring(0, one.indexOf("-1-")) + "-2-");
    assertThat(two.substring(two.length() - 16)).isNotEqualTo(one.substring(one.length() - 16));
    assertThat(other).doesNotStartWith(one.substring(0, one.indexOf('-') + 1));
  }

  private ConcurrencyLimiter concurrencyLimiter(int maxIdle, int maxLeases) {
    return new ConcurrencyLimiter(
        time, timer, limiterEvents, () -> 1_500, null, maxIdle, maxLeases);
  }

  private SlotResult enter(ConcurrencyLimiter gate, String value) {
    return new SlotResult(gate, 0, wanted(rule, value));
  }

  private static SlotResult waiting(ConcurrencyLimiter gate, Rule rule, String priority) {
    return new SlotResult(gate, Long.MAX_VALUE, wanted(rule, "k", "p", priority));
  }

  private static @Nullable RequestPermit taken(RandomGenerator random, List<RequestPermit> from) {
    return from.isEmpty() ? null : from.remove(random.nextInt(from.size()));
  }

  private static int inFlight(ConcurrencyLimiter gate) {
    AtomicLong sum = new AtomicLong();
    gate.limits().forEach((_, figures) -> sum.addAndGet(figures.inFlight()));
    return sum.intValue();
  }

  private static Rule rule(String concurrency) {
    PolicyBook book =
        Book.of("domain: d\ndescriptors:\n  - {key: k, concurrency: {" + concurrency + "}}\n");
    return book.rules().getFirst();
  }

  private static ReachedLimit wanted(Rule rule, String value, String... more) {
    ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
    List<String> entries = new ArrayList<>(List.of("k", value));
    Collections.addAll(entries, more);
    return new ReachedLimit(
        rule,
        terms,
        (ConcurrencyRule.AtService) terms.gate(),
        entries.toArray(String[]::new),
        false,
        true);
  }

  private static ReachedLimit shadow(Rule rule, String value) {
    ReachedLimit own = wanted(rule, value);
    return new ReachedLimit(own.rule(), own.terms(), own.gate(), own.entries(), false, false);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A request and its result. */
  private static final class SlotResult implements PermitAcquisition.AcquisitionCallback {
    final PermitAcquisition acquisition;
    volatile @Nullable RequestPermit lease;
    volatile boolean refused;

    SlotResult(ConcurrencyLimiter gate, long waitNanos, ReachedLimit... wanted) {
      acquisition = gate.enter(List.of(wanted), waitNanos, this);
    }

    @Override
    public void entered(PermitAcquisition by, @Nullable RequestPermit held) {
      assertThat(lease == null && !refused).as("notified once").isTrue();
      lease = held;
    }

    @Override
    public void refused(PermitAcquisition by) {
      assertThat(lease == null && !refused).as("notified once").isTrue();
      refused = true;
    }
  }
}
