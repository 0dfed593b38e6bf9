package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Measures allocated bytes per decision by leased units that are in memory. */
class TierAllocationTest {
  private static final int WARM_UP = 100_000;
  private static final int DECISIONS = 200_000;
  private static final long DAY = 86_400_000;
  // one batch is enough for the whole test
  private static final Tier BATCHES = Node.batches(10_000_000);

  private final Node node =
      new Node(new HeldStore(new InMemoryStore(new ManualTime(1_000_000), 10_000)));
  private final Node.Reply unused = new Node.Reply();

  @Test
  void aRequestOfTwoDescriptorsWithTwoLimitsEachTakesAtMost1536Bytes() {
    List<Charge> user = List.of(charge("user", 1), charge("user per day", 2));
    List<Charge> path = List.of(charge("path", 1), charge("path per day", 2));
    assertThat(node.ask(claim(user), claim(path)).admitted()).isTrue();
    assertThat(bytesPerDecision(() -> decide(user, path))).isLessThanOrEqualTo(1_536);
  }

  /** Decides a request as a service does that has the claims only from its message. */
  private void decide(List<Charge> user, List<Charge> path) {
    TieredOutcome outcome = node.tiers.acquire(List.of(claim(user), claim(path)), unused);
    assert outcome != null && outcome.admitted();
  }

  private static TieredClaim claim(List<Charge> charges) {
    return new TieredClaim(Role.ENFORCED, charges, DataLoss.REFILL, BATCHES, Outage.ERROR);
  }

  private static Charge charge(String counter, int days) {
    return new Charge(
        Node.key(counter), new FixedWindow(100_000_000, days * DAY), 1, Overrun.REFUSE);
  }

  private static double bytesPerDecision(Runnable decision) {
    ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().threadId();
    run(decision, WARM_UP);
    long before = thread.getThreadAllocatedBytes(id);
    run(decision, DECISIONS);
    return (thread.getThreadAllocatedBytes(id) - before) / (double) DECISIONS;
  }

  private static void run(Runnable decision, int times) {
    for (int i = 0; i < times; i++) {
      decision.run();
    }
  }
}
