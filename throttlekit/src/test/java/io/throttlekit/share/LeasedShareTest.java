package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests how many requests a share admits, and when it calls for a heartbeat. */
class LeasedShareTest {
  private static final long SECOND = 1_000_000_000;

  private final VirtualTime time = new VirtualTime();
  private final List<String> calls = new ArrayList<>();
  private final LeasedShare share = share(OnOutage.FAIL_CLOSED);

  @Test
  void nothingIsAdmittedWithoutALease() {
    assertThat(share.requests()).isZero();
    assertThat(share.isFenced()).isFalse();
    assertThat(share(OnOutage.LOCAL_ONLY).requests()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aShareIsAdmittedUntilTheFence() {
    share.grant(5, 4, SECOND);
    assertThat(share.share()).isEqualTo(5);
    assertThat(share.fenceNanos()).isEqualTo(SECOND);
    assertThat(share.requests()).isEqualTo(5);
    time.run(999);
    assertThat(share.requests()).isEqualTo(5);
    assertThat(share.isFenced()).isFalse();
    time.run(1);
    assertThat(share.requests()).isZero();
    assertThat(share.isFenced()).isTrue();
    assertThat(share.share()).as("as if it lasted").isEqualTo(5);
  }

  @Test
  void anEarlierEndDoesNotReplaceALaterOne() {
    share.grant(5, 4, 2 * SECOND);
    share.grant(3, 4, SECOND);
    assertThat(share.fenceNanos()).isEqualTo(2 * SECOND);
    assertThat(share.requests()).isEqualTo(3);
    share.grant(4, 4, 3 * SECOND);
    assertThat(share.fenceNanos()).isEqualTo(3 * SECOND);
    share.leave();
    share.grant(1, 1, SECOND);
    assertThat(share.fenceNanos()).as("another lease").isEqualTo(SECOND);
  }

  @Test
  void aRevokedOrSuspendedShareAdmitsNothing() {
    share.grant(5, 4, SECOND);
    share.suspend();
    assertThat(share.requests()).isZero();
    share.resume();
    assertThat(share.requests()).isEqualTo(5);
    share.revoke();
    assertThat(share.requests()).isZero();
    assertThat(share.isLeased()).isTrue();
    share.grant(5, 4, SECOND);
    share.close();
    assertThat(share.requests()).isZero();
  }

  @Test
  void localOnlyAppliesTheShareWhileItIsLeased() {
    LeasedShare local = share(OnOutage.LOCAL_ONLY);
    local.grant(5, 4, SECOND);
    assertThat(local.requests()).isEqualTo(5);
    local.suspend();
    assertThat(local.requests()).isEqualTo(Integer.MAX_VALUE);
    local.resume();
    time.run(1_000);
    assertThat(local.requests()).isEqualTo(Integer.MAX_VALUE);
    assertThat(local.isFenced()).isFalse();
    local.close();
    assertThat(local.requests()).isZero();
  }

  @Test
  void aRequestWithoutALeaseJoins() {
    share.use();
    assertThat(calls).containsExactly("join");
    share.grant(5, 4, SECOND);
    share.use();
    assertThat(calls).containsExactly("join");
    assertThat(share.takeUsed()).isTrue();
    assertThat(share.takeUsed()).isFalse();
  }

  @Test
  void everyKindOfRequestIsUse() {
    List<Runnable> kinds =
        List.of(share::use, () -> share.released(0), share::refused, share::heldBack);
    for (Runnable kind : kinds) {
      kind.run();
      assertThat(share.takeUsed()).isTrue();
    }
  }

  @Test
  void aRefusalBelowAnEqualShareCallsForAHeartbeat() {
    share.grant(4, 4, SECOND);
    share.refused();
    assertThat(calls).isEmpty();
    share.grant(3, 4, SECOND);
    share.refused();
    assertThat(calls).containsExactly("beat");
  }

  @Test
  void requestsThatFallToALoweredShareCallForOneHeartbeat() {
    share.grant(5, 5, SECOND);
    share.report(5);
    share.released(4);
    assertThat(calls).containsExactly("released");
    share.grant(3, 3, SECOND);
    share.report(5);
    share.released(4);
    assertThat(calls).containsExactly("released", "released");
    share.released(3);
    assertThat(calls).containsExactly("released", "released", "released", "beat");
    share.released(2);
    assertThat(calls).endsWith("beat", "released");
  }

  @Test
  void theWholeShareIsNeededWhileRequestsAreHeldBack() {
    share.grant(5, 4, 10 * SECOND);
    assertThat(share.needed()).isZero();
    time.run(500);
    share.heldBack();
    assertThat(share.needed()).isEqualTo(5);
    time.run(999);
    assertThat(share.needed()).isEqualTo(5);
    time.run(1);
    assertThat(share.needed()).isZero();
  }

  private LeasedShare share(OnOutage onOutage) {
    return new LeasedShare(
        onOutage,
        time,
        () -> calls.add("beat"),
        () -> calls.add("join"),
        () -> calls.add("released"));
  }
}
