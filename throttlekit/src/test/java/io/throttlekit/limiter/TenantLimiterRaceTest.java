package io.throttlekit.limiter;

import static io.throttlekit.limiter.TenantRequests.FLOOD;
import static io.throttlekit.limiter.TenantRequests.VICTIM;
import static io.throttlekit.limiter.TenantRequests.request;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.limiter.tenants.PermitTenant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Threads that acquire and release permits of two tenants in the orders chosen by Lincheck: every
 * outcome must be that of some sequential order of whole operations. So a request within its
 * tenant's part is admitted while another thread has released a permit and not yet served the
 * queue.
 */
@Isolated("Lincheck changes the classes that it checks, for all threads")
@Tag("thorough")
public class TenantLimiterRaceTest {
  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(TestLimits.fixed(6))
          .queueing(Queueing.of(3, 3))
          .time(new ManualTime(0), (_, _) -> {})
          .tenants(TenantRequests.TERMS)
          .build();
  private final List<Permit> flooding;
  private final AtomicInteger released = new AtomicInteger();
  private final AtomicInteger admitted = new AtomicInteger();

  /** Each tenant has a part of 3. One permit is free, and a request above its part waits for it. */
  public TenantLimiterRaceTest() {
    var _ = TenantRequests.take(limiter, VICTIM);
    var _ = TenantRequests.take(limiter, VICTIM);
    flooding = TenantRequests.flood(limiter, FLOOD, 3);
    wait(FLOOD);
  }

  @Operation
  public boolean tryAcquireWithinThePart() {
    return tryAcquire(VICTIM);
  }

  @Operation
  public boolean tryAcquireAboveThePart() {
    return tryAcquire(FLOOD);
  }

  /** The callback may run at any later time, so a return value would reveal nothing. */
  @Operation
  public void acquireAboveThePart() {
    wait(FLOOD);
  }

  /** Releases each permit twice. */
  @Operation
  public void release() {
    flooding.get(released.getAndIncrement() / 2 % flooding.size()).release();
  }

  /** Runs after all operations have ended. */
  @Validate
  public void permitsAreAccountedFor() {
    LimiterFigures now = limiter.figures();
    int ended = Math.min(Math.ceilDiv(released.get(), 2), flooding.size());
    if (now.inFlight() != 5 - ended + admitted.get()) {
      throw new IllegalStateException(now + " after " + ended + " and " + admitted);
    }
  }

  @Test
  void isLinearizableInModelChecking() {
    new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(50)
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(0)
        .actorsAfter(1)
        .check(TenantLimiterRaceTest.class);
  }

  private boolean tryAcquire(PermitTenant tenant) {
    boolean there = limiter.tryAcquire(request(tenant)) != null;
    admitted.getAndAdd(there ? 1 : 0);
    return there;
  }

  private void wait(PermitTenant tenant) {
    var _ =
        limiter.acquire(
            request(tenant),
            new PermitCallback() {
              @Override
              public void admitted(Permit permit) {
                admitted.getAndIncrement();
              }

              @Override
              public void refused(Refusal why) {}
            });
  }
}
