package io.throttlekit.rate;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A seeded history of charges, peeks and refunds under a clock that crosses windows and sometimes
 * steps back, applied to an algorithm and to its oracle. The same seed yields the same history.
 */
@SuppressWarnings("ReferenceEquality") // whether the same object was returned
final class RandomHistory {

  /** The cases that the history has reached, so that a test can prove that it does. */
  static final class Reached {
    int refusals;
    int impossible;
    int rolls;
    int stepsBack;
    int overdrafts;
    int refunds;
    int branches;
  }

  /** One step: the state before, the charge, and the decisions of both. */
  record Step(
      long now, long cost, Overrun overrun, Decision answered, Decision expected, boolean kept) {}

  private final SplittableRandom random;
  private final long window;
  private final long limit;
  private final Reached reached;
  private History<?> subject;
  private Oracle oracle;
  private History<?> savedSubject;
  private Oracle savedOracle;
  private long now = 1_700_000_000_000L;

  RandomHistory(RateAlgorithm<?> algorithm, long seed, Reached reached) {
    this.random = new SplittableRandom(seed);
    this.window = algorithm.windowMillis();
    this.limit = algorithm.limit();
    this.reached = reached;
    this.subject = new History<>(algorithm);
    this.oracle = Oracles.of(algorithm);
    this.savedSubject = subject.branch();
    this.savedOracle = oracle.copy();
  }

  static List<RateAlgorithm<?>> algorithms() {
    return List.of(
        new FixedWindow(0, 100),
        new FixedWindow(1, 1),
        new FixedWindow(7, 100),
        new SlidingWindow(0, 100),
        new SlidingWindow(1, 7, 1),
        new SlidingWindow(7, 100, 10),
        new SlidingWindow(50, 90, 3),
        new SlidingLog(0, 100),
        new SlidingLog(3, 50),
        new SlidingLog(40, 200),
        new Gcra(0, 100),
        new Gcra(3, 100),
        new Gcra(7, 60, 2),
        new Gcra(100, 13, 40),
        new TokenBucket(0, 100),
        new TokenBucket(3, 100),
        new TokenBucket(7, 60, 2),
        new TokenBucket(100, 13, 40));
  }

  /** Runs one step of any kind. */
  Step next() {
    moveClock();
    branch();
    return switch (random.nextInt(12)) {
      case 0 -> refund(1 + random.nextLong(limit + 2));
      case 1 -> charge(cost(), Overrun.OVERDRAFT);
      case 2 -> charge(cost(), Overrun.COUNT);
      default -> charge(cost(), Overrun.REFUSE);
    };
  }

  /** Runs one step of a history that charges only admitted costs. */
  Step nextRefusing() {
    moveClock();
    return charge(cost(), Overrun.REFUSE);
  }

  History<?> subject() {
    return subject;
  }

  private Step charge(long cost, Overrun overrun) {
    Object before = subject.state();
    Decision answered = subject.charge(now, cost, overrun);
    Decision expected = oracle.charge(now, cost, overrun);
    boolean kept = before == subject.state();
    reached.refusals += expected.admitted() ? 0 : 1;
    reached.impossible += expected.neverFits() ? 1 : 0;
    reached.overdrafts += expected.admitted() || kept ? 0 : 1;
    return new Step(now, cost, overrun, answered, expected, kept);
  }

  private Step refund(long units) {
    Object before = subject.state();
    Decision answered = subject.refund(now, units);
    Decision expected = oracle.refund(now, units);
    boolean kept = before == subject.state();
    reached.refunds += kept ? 0 : 1;
    return new Step(now, -units, Overrun.REFUSE, answered, expected, kept);
  }

  private long cost() {
    return switch (random.nextInt(16)) {
      case 0 -> limit + 1;
      case 1, 2 -> random.nextLong(2 * limit + 1);
      case 3, 4, 5 -> random.nextLong(2);
      default -> random.nextLong(limit / 2 + 2);
    };
  }

  private void moveClock() {
    long before = Math.floorDiv(now, window);
    switch (random.nextInt(10)) {
      case 0 -> now += random.nextLong(3 * window);
      case 1, 2, 3, 4 -> now += random.nextLong(window / 5 + 2);
      case 5 -> {
        if (random.nextInt(3) == 0) {
          now -= 1 + random.nextLong(2 * window);
          reached.stepsBack++;
        }
      }
      default -> {}
    }
    reached.rolls += Math.floorDiv(now, window) > before ? 1 : 0;
  }

  /** Sometimes continues from an earlier state, with its charges. */
  private void branch() {
    switch (random.nextInt(20)) {
      case 0 -> {
        savedSubject = subject.branch();
        savedOracle = oracle.copy();
      }
      case 1 -> {
        History<?> other = subject;
        Oracle otherOracle = oracle;
        subject = savedSubject;
        oracle = savedOracle;
        savedSubject = other;
        savedOracle = otherOracle;
        reached.branches++;
      }
      default -> {}
    }
  }
}
