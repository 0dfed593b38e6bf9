package io.throttlekit.steering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.steering.LimitShares.Grant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests limiters and divisions that continue where others ended. */
class LimitSharesSuccessionTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LEASE = 30 * SECOND;

  private LimitShares shares = new LimitShares(10, LEASE, SECOND);
  private long now = Long.MAX_VALUE - 5 * SECOND; // monotonic time may overflow
  private long number;

  @Test
  void aRestoredDivisionReservesWhatWasGranted() {
    settle("a", "b");
    shares.limit(4);
    due(); // and nothing is acknowledged
    restore();
    assertThat(shares.reserved()).isEqualTo(10);
    assertThat(shares.acknowledged()).isEqualTo(10);
    shares.joined("c", "c");
    assertThat(due()).containsExactly(grant("c", 0));
    shares.joined("a", "a");
    shares.joined("b", "b");
    assertThat(shares.share("a")).hasValue(2);
    assertThat(shares.reserved()).isEqualTo(10);
  }

  @Test
  void anAcknowledgementCountsInARestoredDivision() {
    settle("a", "b");
    shares.limit(4);
    due();
    long granted = number;
    due(); // a later round, of which limiters are notified with the same share
    restore();
    assertThat(shares.acknowledged("a", granted - 1)).isFalse();
    assertThat(shares.acknowledged("a", number)).isTrue();
    assertThat(shares.reserved()).isEqualTo(5 + 2);
  }

  @Test
  void theLeaseBeginsAnewInARestoredDivision() {
    settle("a", "b");
    shares.left("b", now);
    now += LEASE - 1;
    restore();
    shares.joined("a", "a");
    now += LEASE - 1;
    assertThat(due()).isEmpty();
    now += 1;
    assertThat(due()).containsExactly(grant("a", 10));
  }

  @Test
  void aRestoredLimiterIsNotReleasedByAReport() {
    settle("a", "b");
    restore();
    shares.joined("a", "a");
    shares.reported("b", 0, 0, now); // it may be connected where that is not known yet
    assertThat(due()).isEmpty();
  }

  @Test
  void aLimiterThatLeftIsNotReleasedByAReport() {
    settle("a", "b");
    shares.left("b", now);
    shares.reported("b", 0, 0, now);
    assertThat(due()).isEmpty();
    now += LEASE;
    assertThat(due()).containsExactly(grant("a", 10));
  }

  @Test
  void demandIsRestored() {
    settle("a", "b");
    shares.reported("a", 5, 5, now);
    settleRounds();
    assertThat(shares.share("a")).hasValue(9);
    restore();
    shares.joined("a", "a");
    shares.joined("b", "b");
    assertThat(due()).isEmpty();
    now += 10 * SECOND;
    assertThat(due()).containsExactly(grant("a", 5)); // that of b rises when this is acknowledged
  }

  @Test
  void aSuccessorHasTheReservationAndIsGrantedAgain() {
    settle("a", "b");
    shares.left("b", now);
    shares.succeeded("b", "c");
    assertThat(shares.share("b")).isEmpty();
    assertThat(shares.reserved()).isEqualTo(10);
    assertThat(due()).containsExactly(grant("c", 5));
    assertThat(shares.acknowledged("c", number - 1)).isFalse(); // of its predecessor
    assertThat(shares.acknowledgements()).isEqualTo(new Acknowledgements(2, 1, 0));
    assertThat(shares.acknowledged("c", number)).isTrue();
    assertThat(shares.reservedById()).containsEntry("b", 5L);
  }

  @Test
  void aConnectedLimiterHasNoSuccessorAndALeftOneHasOne() {
    settle("a", "b");
    shares.succeeded("b", "c");
    shares.left("b", now);
    shares.succeeded("b", "a");
    shares.succeeded("x", "c");
    assertThat(due()).isEmpty();
    shares.succeeded("b", "c");
    shares.succeeded("b", "d");
    assertThat(due()).containsExactly(grant("c", 5));
    assertThat(shares.acknowledgements().present()).isEqualTo(2);
  }

  @Test
  void aSuccessorKeepsTheLargestShareReservedUntilItAcknowledges() {
    settle("a", "b");
    shares.limit(4);
    due();
    shares.left("b", now);
    shares.succeeded("b", "c");
    assertThat(due()).contains(grant("c", 2));
    assertThat(shares.reserved()).isEqualTo(10);
    acknowledge("c");
    assertThat(shares.reserved()).isEqualTo(5 + 2);
  }

  @Test
  void aLimiterThatJoinsWithAShareReservesItUntilItAcknowledges() {
    settle("a");
    shares.joined("b", "b", 6);
    assertThat(shares.reserved()).isEqualTo(16);
    assertThat(due()).containsExactly(grant("a", 5), grant("b", 5));
    acknowledge("b");
    assertThat(shares.reserved()).isEqualTo(10 + 5);
    shares.joined("b", "b", 100); // known: without effect
    assertThat(shares.reserved()).isEqualTo(10 + 5);
    acknowledge("a");
    assertThat(shares.reserved()).isEqualTo(10);
  }

  @Test
  void aGrantWithoutARecordIsReservedUntilTheNextIsAcknowledged() {
    settle("a", "b");
    shares.reserve("a", 5);
    assertThat(due()).isEmpty(); // as much is reserved already
    shares.reserve("a", 8);
    shares.reserve("x", 8);
    assertThat(shares.acknowledged("a", number)).isFalse(); // before it is granted again
    assertThat(shares.reserved()).isEqualTo(8 + 5);
    assertThat(due()).containsExactly(grant("a", 5));
    assertThat(shares.acknowledged("a", number - 1)).isFalse();
    acknowledge("a");
    assertThat(shares.reserved()).isEqualTo(10);
  }

  @Test
  void statesOfAnotherDivisionAreRejected() {
    LimiterState state = new LimiterState(5, 3, true, 5, 5, 0, false);
    LimitShares other = new LimitShares(10, LEASE, SECOND, 2);
    assertThatThrownBy(() -> other.restored("a", "a", state, 0)).hasMessageContaining("snapshot");
    LimitShares continued = new LimitShares(10, LEASE, SECOND, 3);
    continued.restored("a", "a", state, 0);
    assertThatThrownBy(() -> continued.restored("a", "a", state, 0))
        .hasMessageContaining("snapshot");
    assertThatThrownBy(() -> continued.due(0, 3)).hasMessageContaining("not above");
  }

  @Test
  void statesOutOfRangeAreRejected() {
    for (Runnable invalid :
        List.<Runnable>of(
            () -> new LimiterState(-2, 0, false, 0, 0, 0, false),
            () -> new LimiterState(-1, 1, false, 0, 0, 0, false),
            () -> new LimiterState(-1, 0, true, 0, 0, 0, false),
            () -> new LimiterState(1, 0, true, 0, 1, 0, false),
            () -> new LimiterState(1, -1, true, 0, 1, 0, false),
            () -> new LimiterState(2, 1, true, 0, 1, 0, false),
            () -> new LimiterState(1, 1, true, 2, 1, 0, false),
            () -> new LimiterState(1, 1, true, -1, 1, 0, false),
            () -> new LimiterState(1, 1, true, 1, 1, -1, false),
            () -> new LimiterState(1, 1, true, 1, 1, 1L << 32, false))) {
      assertThatThrownBy(invalid::run).isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Continues with the snapshot of all limiters, which are all disconnected then. */
  private void restore() {
    LimitShares next = new LimitShares(shares.limit(), LEASE, SECOND, number);
    shares.snapshot().forEach((name, state) -> next.restored(name, name, state, now));
    shares = next;
  }

  private List<Grant> due() {
    return shares.due(now, ++number);
  }

  private void acknowledge(String gate) {
    assertThat(shares.acknowledged(gate, number)).isTrue();
  }

  private Grant grant(String gate, int share) {
    return new Grant(gate, share, number);
  }

  private void settle(String... gates) {
    for (String gate : gates) {
      shares.joined(gate, gate);
    }
    settleRounds();
  }

  private void settleRounds() {
    for (List<Grant> grants = due(); !grants.isEmpty(); grants = due()) {
      grants.forEach(grant -> shares.acknowledged(grant.limiter(), grant.number()));
    }
  }
}
