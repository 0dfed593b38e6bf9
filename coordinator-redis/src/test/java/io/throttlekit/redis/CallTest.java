package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CallTest {
  private static final FixedWindow MINUTE = new FixedWindow(5, 60_000);

  @Test
  void onlyACallWithAnIdHasASeparateReply() {
    Charge charge = new Charge(StoreCalls.key(MINUTE, "a"), MINUTE, 1, Overrun.REFUSE);
    List<Claim> claims = List.of(new Claim(Claim.Role.ENFORCED, List.of(charge)));
    Call<?> strict = CounterCall.acquire(Slots.NONE, 0, claims);
    assertThat(strict.reply).isSameAs(strict.answer);
    Call<?> once = lease(null);
    assertThat(once.reply).isSameAs(once.answer);
    Call<?> again = lease(new CallId(8, 1));
    assertThat(again.reply).isNotSameAs(again.answer);
  }

  /** A lease is completed although its caller has timed out, and counts as failed once. */
  @Test
  void aFailureReachesTheReplyAlsoAfterTheDeadline() {
    CounterCall<LeaseGrant> late = lease(new CallId(8, 1));
    assertThat(late.answer.completeExceptionally(StoreException.late("late"))).isTrue();
    assertThat(late.reply).isNotDone();
    assertThat(late.fail(StoreException.notSent("closed"))).isFalse();
    assertThat(late.reply).isCompletedExceptionally();
    CounterCall<LeaseGrant> once = lease(null);
    assertThat(once.fail(StoreException.notSent("closed"))).isTrue();
    assertThat(once.fail(StoreException.notSent("closed"))).isFalse();
  }

  private static CounterCall<LeaseGrant> lease(@Nullable CallId id) {
    LeaseRequest request =
        new LeaseRequest(StoreCalls.key(MINUTE, "a"), MINUTE, 1, DataLoss.REFILL);
    return CounterCall.lease(
        Slots.NONE,
        0,
        id == null ? request : new LeaseRequest(request.key(), MINUTE, 1, DataLoss.REFILL, id));
  }
}
