package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Measures allocated bytes per decision on a known key. */
class AllocationTest {
  private static final int WARM_UP = 100_000;
  private static final int DECISIONS = 200_000;

  private final ManualTime time = new ManualTime(1_700_000_000_000L);
  private final InMemoryStore store = new InMemoryStore(time, 10_000);

  static List<RateAlgorithm<?>> algorithms() {
    return List.of(
        new FixedWindow(100, 1000),
        new SlidingWindow(100, 1000),
        new SlidingLog(100, 1000),
        new Gcra(100, 1000),
        new TokenBucket(100, 1000));
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aChargeThatIsMostlyRefusedTakesAtMost128Bytes(RateAlgorithm<?> algorithm) {
    assertThat(bytesPerDecision(charge(algorithm, "a", 1), 1)).isLessThanOrEqualTo(128);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aChargeThatIsAlwaysAdmittedTakesAtMost128Bytes(RateAlgorithm<?> algorithm) {
    boolean hasRate = algorithm instanceof Gcra || algorithm instanceof TokenBucket;
    int rates = hasRate ? 2 * Long.BYTES : 0; // in the state before and in the state after
    assertThat(bytesPerDecision(charge(algorithm, "a", 1), 11)).isLessThanOrEqualTo(128 + rates);
  }

  @Test
  void aSlidingWindowThatIsChargedOnceInASliceTakesLittleMore() {
    Charge charge = charge(new SlidingWindow(100, 1000, 1000), "a", 1);
    assertThat(bytesPerDecision(charge, 11)).isLessThanOrEqualTo(192);
  }

  @Test
  void aRequestOfOneClaimTakesAtMost192BytesAndOneOfTwoLimitsAtMost704() {
    FixedWindow second = new FixedWindow(100, 1000);
    FixedWindow minute = new FixedWindow(100, 60_000);
    List<Claim> one = List.of(enforced(charge(second, "a", 1)));
    List<Claim> two = List.of(enforced(charge(second, "a", 1), charge(minute, "a", 1)));
    assertThat(bytesPerDecision(() -> store.decide(one), 11)).isLessThanOrEqualTo(192);
    assertThat(bytesPerDecision(() -> store.decide(two), 11)).isLessThanOrEqualTo(704);
  }

  @Test
  void aRequestThatASiblingRefusesCopiesNoSlidingLog() {
    SlidingLog log = new SlidingLog(10_000, 3_600_000);
    FixedWindow exhausted = new FixedWindow(1, 86_400_000);
    store.decide(charge(exhausted, "a", 1));
    for (int i = 0; i < 5_000; i++) {
      time.advance(1);
      store.decide(charge(log, "a", 1));
    }
    List<Claim> both = List.of(enforced(charge(log, "a", 1), charge(exhausted, "a", 1)));
    assertThat(bytesPerDecision(() -> store.decide(both), 0)).isLessThanOrEqualTo(704);
  }

  private double bytesPerDecision(Charge charge, long millisBetween) {
    return bytesPerDecision(() -> store.decide(charge), millisBetween);
  }

  private double bytesPerDecision(Runnable decision, long millisBetween) {
    ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().threadId();
    run(decision, WARM_UP, millisBetween);
    long before = thread.getThreadAllocatedBytes(id);
    run(decision, DECISIONS, millisBetween);
    return (thread.getThreadAllocatedBytes(id) - before) / (double) DECISIONS;
  }

  private void run(Runnable decision, int times, long millisBetween) {
    for (int i = 0; i < times; i++) {
      time.advance(millisBetween);
      decision.run();
    }
  }
}
