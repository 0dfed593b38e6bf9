package io.throttlekit.limiter;

import io.throttlekit.limit.TestLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Threads that acquire and release permits, join the queue, and change the limit of one limiter, in
 * the orders chosen by Lincheck: every outcome must be that of some sequential order of whole
 * operations. The permits that are released were acquired before, and each is released twice.
 */
@Isolated("Lincheck changes the classes that it checks, for all threads")
@Tag("exploration")
public class AdaptiveLimiterRaceTest {
  private static final boolean THOROUGH = Boolean.getBoolean("throttlekit.thorough");
  private static final int OUT_BEFORE = 12;

  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(TestLimits.movable(1, 99, OUT_BEFORE)).queueing(Queueing.of(1, 1)).build();
  private final List<Permit> outBefore = new ArrayList<>();
  private final PendingPermit waitedBefore;
  private final AtomicInteger returned = new AtomicInteger();
  private final AtomicInteger admitted = new AtomicInteger();

  /** All permits are in use, and one request waits. */
  public AdaptiveLimiterRaceTest() {
    for (int i = 0; i < OUT_BEFORE; i++) {
      outBefore.add(PermitCallbacks.taken(limiter.tryAcquire()));
    }
    waitedBefore = limiter.acquire(PermitRequest.PLAIN, counting());
  }

  @Operation
  public boolean tryAcquire() {
    boolean there = limiter.tryAcquire() != null;
    admitted.getAndAdd(there ? 1 : 0);
    return there;
  }

  /** The callback may run at any later time, so a return value would reveal nothing. */
  @Operation
  public void acquire() {
    var _ = limiter.acquire(PermitRequest.PLAIN, counting());
  }

  /** Returns whether the request that waited from the beginning was still waiting. */
  @Operation
  public boolean cancel() {
    return waitedBefore.cancel();
  }

  @Operation
  public void returnUnits() {
    outBefore.get(returned.getAndIncrement() / 2).release();
  }

  @Operation
  public void grow() {
    limiter.learn(TestLimits.GROW);
  }

  /** Runs after all operations have ended. */
  @Validate
  public void permitsAreAccountedForAndNoRequestWaitsInVain() {
    LimiterFigures now = limiter.figures();
    int ended = Math.ceilDiv(returned.get(), 2);
    if (now.inFlight() != OUT_BEFORE - ended + admitted.get()) {
      throw new IllegalStateException(now + " after " + ended + " and " + admitted);
    }
    if (now.queued() > 0 && now.inFlight() < now.limit()) {
      throw new IllegalStateException("somebody waits: " + now);
    }
  }

  @Test
  void isLinearizableUnderStress() {
    new StressOptions()
        .iterations(THOROUGH ? 6 : 3)
        .invocationsPerIteration(200)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(1)
        .check(AdaptiveLimiterRaceTest.class);
  }

  @Test
  void isLinearizableInModelChecking() {
    new ModelCheckingOptions()
        .iterations(THOROUGH ? 3 : 1)
        .invocationsPerIteration(50)
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(1)
        .actorsAfter(1)
        .check(AdaptiveLimiterRaceTest.class);
  }

  private PermitCallback counting() {
    return new PermitCallback() {
      @Override
      public void admitted(Permit permit) {
        admitted.getAndIncrement();
      }

      @Override
      public void refused(Refusal why) {}
    };
  }
}
