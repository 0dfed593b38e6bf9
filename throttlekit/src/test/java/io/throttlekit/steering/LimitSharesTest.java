package io.throttlekit.steering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.steering.LimitShares.Grant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LimitSharesTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LEASE = 30 * SECOND;

  private final LimitShares shares = new LimitShares(10, LEASE, SECOND);
  private long now = Long.MAX_VALUE - 5 * SECOND; // monotonic time may overflow
  private long number;

  @Test
  void theFirstLimiterHasAllSlotsUntilTheSecondJoins() {
    shares.joined("a", "a");
    assertThat(due()).containsExactly(grant("a", 10));
    acknowledge("a");
    shares.joined("b", "b");
    assertThat(due()).containsExactly(grant("a", 5), grant("b", 0));
    acknowledge("b");
    assertThat(due()).isEmpty();
    acknowledge("a");
    assertThat(due()).containsExactly(grant("b", 5));
    assertThat(settled()).isFalse();
    acknowledge("b");
    assertThat(settled()).isTrue();
  }

  @Test
  void aSilentLimiterReservesItsLargestUnacknowledgedShare() {
    settle("a", "b");
    shares.limit(4);
    assertThat(due()).containsExactly(grant("a", 2), grant("b", 2));
    assertThat(shares.reserved()).isEqualTo(10);
    acknowledge("b");
    assertThat(shares.reserved()).isEqualTo(7);
    shares.limit(6);
    assertThat(due()).containsExactly(grant("a", 3)); // within the 5 that it may be applying
    assertThat(shares.reserved()).isEqualTo(7);
    acknowledge("a");
    assertThat(due()).containsExactly(grant("b", 3));
  }

  @Test
  void acknowledgedIsTheLastAcknowledgementAlsoOfLeftLimiters() {
    settle("a", "b");
    assertThat(shares.acknowledged()).isEqualTo(10);
    shares.limit(4);
    due();
    assertThat(shares.acknowledged()).isEqualTo(10);
    acknowledge("b");
    assertThat(shares.acknowledged()).isEqualTo(5 + 2);
    shares.left("a", now);
    assertThat(shares.acknowledged()).isEqualTo(5 + 2);
    shares.joined("a", "a");
    acknowledge("a");
    assertThat(shares.acknowledged()).isEqualTo(4);
    shares.left("a", now);
    shares.reported("a", 0, 0, now); // it may be connected elsewhere
    due();
    assertThat(shares.acknowledged()).isEqualTo(4);
    now += LEASE;
    due();
    assertThat(shares.acknowledged()).isEqualTo(2);
  }

  @Test
  void lateRepeatedAndInventedAcknowledgementsAreIgnored() {
    settle("a", "b");
    long before = number;
    shares.limit(4);
    due();
    assertThat(shares.acknowledged("a", before)).isFalse();
    assertThat(shares.acknowledged("a", number + 1)).isFalse();
    assertThat(shares.acknowledged("x", number)).isFalse();
    assertThat(shares.reserved()).isEqualTo(10);
    assertThat(shares.acknowledged("a", number)).isTrue();
    assertThat(shares.acknowledged("a", number)).isFalse();
    assertThat(shares.reserved()).isEqualTo(7);
  }

  @Test
  void acknowledgementsBeforeAGrantAreIgnored() {
    settle("a");
    shares.joined("b", "b");
    assertThat(shares.acknowledged("b", number)).isFalse();
    assertThat(shares.share("b")).isEmpty();
    assertThat(shares.share("a")).hasValue(10);
  }

  @Test
  void theShareOfALeftLimiterIsReservedForItsLease() {
    settle("a", "b");
    shares.left("b", now);
    shares.left("b", now + SECOND); // no effect
    now += LEASE - 1;
    assertThat(due()).isEmpty();
    now += 1;
    assertThat(due()).containsExactly(grant("a", 10));
  }

  @Test
  void theLeaseOfALeftLimiterBeginsAnewWhileItIsSeen() {
    settle("a", "b");
    shares.left("b", now);
    for (int sign = 0; sign < 3; sign++) {
      now += LEASE - 1;
      shares.seen("b", now);
      assertThat(due()).isEmpty();
    }
    shares.seen("b", now - SECOND); // an earlier sign, which arrives late
    now += LEASE - 1;
    assertThat(due()).isEmpty();
    now += 1;
    assertThat(due()).containsExactly(grant("a", 10));
    shares.seen("b", now); // gone
    assertThat(due()).isEmpty();
  }

  @Test
  void aSignOfLifeOfAConnectedLimiterIsNoneOfTheOthersOfItsId() {
    settle("a", "b");
    shares.joined("b2", "b");
    settleRounds();
    shares.left("b", now);
    now += LEASE - 1;
    shares.seen("b", now); // b2 may have sent it
    now += 1;
    settleRounds();
    assertThat(shares.share("b")).isEmpty();
    assertThat(shares.share("b2")).hasValue(5);
  }

  @Test
  void aRejoinedLimiterKeepsItsShare() {
    settle("a", "b");
    shares.left("b", now);
    shares.joined("b", "b");
    now += LEASE;
    assertThat(due()).isEmpty();
    assertThat(shares.share("b")).hasValue(5);
  }

  @Test
  void aLimitBelowTheReservationOfAbsentLimitersLeavesNothing() {
    settle("a", "b");
    shares.left("b", now);
    shares.limit(3);
    assertThat(due()).containsExactly(grant("a", 0));
    acknowledge("a");
    assertThat(settled()).isFalse(); // 5 may still be in effect
    now += LEASE;
    assertThat(due()).containsExactly(grant("a", 3));
    acknowledge("a");
    assertThat(settled()).isTrue();
  }

  @Test
  void sharesFollowDemandAndDecaySlowly() {
    settle("a", "b");
    shares.reported("a", 5, 16, now);
    shares.reported("b", 0, 0, now);
    assertThat(due()).containsExactly(grant("b", 1));
    acknowledge("b");
    assertThat(due()).containsExactly(grant("a", 9));
    acknowledge("a");
    shares.reported("a", 0, 0, now); // 10, which is twice its share, becomes 7
    assertThat(due()).containsExactly(grant("a", 8));
    now += 10 * SECOND;
    assertThat(due()).containsExactly(grant("a", 5));
  }

  @Test
  void extremeReportsAreClamped() {
    settle("a", "b");
    shares.reported("a", Long.MAX_VALUE, Long.MAX_VALUE, now);
    shares.reported("b", Long.MIN_VALUE, -1, now);
    assertThat(due()).containsExactly(grant("b", 1));
    shares.reported("nobody", 1, 1, now);
    assertThat(due()).isEmpty();
  }

  @Test
  void arbitraryReportsOfAnAnonymousLimiterKeepTheSharesOfOthers() {
    shares.limit(200);
    settle("a", "b", "c", "d");
    shares.joined("anonymous", "anonymous");
    for (int tick = 0; tick < 40; tick++) {
      for (String gate : List.of("a", "b", "c", "d")) {
        shares.reported(gate, shares.share(gate).orElseThrow(), 0, now);
      }
      shares.reported("anonymous", 1 << 30, 0, now);
      settleRounds(); // it acknowledges every grant
      now += SECOND / 2;
    }
    for (String gate : List.of("a", "b", "c", "d")) {
      assertThat(shares.share(gate).orElseThrow()).as(gate).isGreaterThanOrEqualTo(49);
    }
  }

  @Test
  void aShareAtMostDoublesWithEachReportOfRefusals() {
    shares.limit(100);
    settle("a", "b");
    shares.reported("a", 50, 0, now);
    shares.reported("b", 0, 0, now);
    for (int i = 0; i < 20; i++) { // the demand of b expires
      shares.reported("a", shares.share("a").orElseThrow(), 50, now);
      settleRounds();
    }
    assertThat(shares.share("b")).hasValue(1);
    for (int share : new int[] {2, 4, 8}) {
      shares.reported("a", shares.share("a").orElseThrow(), 50, now);
      shares.reported("b", 1, 1 << 30, now);
      settleRounds();
      assertThat(shares.share("b").orElseThrow()).isBetween(2, share);
    }
  }

  @Test
  void inventedRefusalsKeepEqualSharesOfOthers() {
    shares.limit(200);
    settle("a", "b", "c", "hostile");
    for (int report = 0; report < 10; report++) {
      reportOffered(10);
      assertThat(shares.share("a").orElseThrow()).isGreaterThanOrEqualTo(10);
    }
    assertThat(shares.share("hostile").orElseThrow()).isGreaterThan(150); // the others want little
    for (int report = 0; report < 3; report++) { // from 10 to 20, 40 and 50
      reportOffered(60);
    }
    for (int report = 0; report < 20; report++) {
      reportOffered(60);
      for (String gate : List.of("a", "b", "c")) {
        assertThat(shares.share(gate).orElseThrow()).as(gate).isGreaterThanOrEqualTo(50);
      }
    }
  }

  /** Reports so many requests for each of three honest limiters, and 2^30 refusals of another. */
  private void reportOffered(int offered) {
    for (String gate : List.of("a", "b", "c")) {
      int inFlight = Math.min(offered, shares.share(gate).orElseThrow());
      shares.reported(gate, inFlight, offered - inFlight, now);
    }
    shares.reported("hostile", 10, 1 << 30, now);
    settleRounds();
    now += SECOND / 2;
  }

  @Test
  void limitersOfOneIdDivideItsShare() {
    settle("a", "b");
    shares.joined("b2", "b");
    assertThat(due()).containsExactly(grant("b", 3), grant("b2", 0));
    assertThat(due()).isEmpty(); // b may still apply 5
    acknowledgeRound("b");
    assertThat(due()).containsExactly(grant("b2", 2));
    acknowledge("b2");
    assertThat(shares.acknowledged()).isEqualTo(10);
    shares.reported("b", 4, 6, now);
    settleRounds();
    assertThat(shares.share("a")).hasValue(1);
    assertThat(shares.share("b").orElseThrow() + shares.share("b2").orElseThrow()).isEqualTo(9);
  }

  @Test
  void theFullShareReturnsWhenTheLeaseOfTheOtherLimiterOfAnIdEnds() {
    settle("a", "b");
    shares.joined("b2", "b");
    settleRounds();
    shares.left("b", now);
    shares.reported("b", 0, 0, now); // a report that either may send
    settleRounds();
    assertThat(shares.share("b")).hasValue(3);
    now += LEASE;
    settleRounds();
    assertThat(shares.share("b")).isEmpty();
    assertThat(shares.share("b2")).hasValue(5);
  }

  @Test
  void limitersTakeTurnsIfSlotsAreFewerThanLimiters() {
    settle("a", "b", "c");
    shares.limit(2);
    Set<Set<String>> served = new HashSet<>();
    for (int turn = 0; turn < 3; turn++) {
      settleRounds();
      assertThat(settled()).isTrue();
      served.add(served("a", "b", "c"));
      settleRounds(); // no change within a turn
      served.add(served("a", "b", "c"));
      now += SECOND;
    }
    assertThat(served)
        .containsExactlyInAnyOrder(Set.of("a", "b"), Set.of("c", "a"), Set.of("b", "c"));
  }

  @Test
  void limitersWithRecentDemandComeFirst() {
    settle("a", "b", "c");
    shares.limit(1);
    shares.reported("c", 0, 1, now);
    settleRounds();
    assertThat(served("a", "b", "c")).containsExactly("c");
    now += SECOND;
    settleRounds();
    assertThat(served("a", "b", "c")).containsExactly("c");
    shares.reported("b", 0, 1, now);
    settleRounds();
    assertThat(served("a", "b", "c")).containsExactly("b");
  }

  @Test
  void aLimitOfZeroFencesEveryLimiter() {
    settle("a", "b");
    shares.limit(0);
    assertThat(due()).containsExactly(grant("a", 0), grant("b", 0));
    acknowledge("a");
    acknowledge("b");
    assertThat(settled()).isTrue();
    assertThat(shares.reserved()).isZero();
  }

  @Test
  void isNotSettledWithoutLimiters() {
    assertThat(settled()).isFalse();
    shares.joined("a", "a");
    assertThat(settled()).isFalse();
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> shares.limit(-1)).hasMessageContaining("-1");
    assertThatThrownBy(() -> new LimitShares(-2, 1, 1)).hasMessageContaining("-2");
    assertThatThrownBy(() -> new LimitShares(1, 0, 1)).hasMessageContaining("0 and 1");
    assertThatThrownBy(() -> new LimitShares(1, 1, -7)).hasMessageContaining("-7");
    assertThatThrownBy(() -> shares.due(0, 0)).hasMessageContaining("0 is not above 0");
  }

  @Test
  void aGrantHasNoNegativeShare() {
    assertThatThrownBy(() -> new Grant("a", -1, 1)).hasMessage("a has a share of -1");
  }

  private List<Grant> due() {
    return shares.due(now, ++number);
  }

  private void acknowledge(String gate) {
    assertThat(shares.acknowledged(gate, number)).isTrue();
  }

  private void acknowledgeRound(String gate) {
    assertThat(shares.acknowledged(gate, number - 1)).isTrue();
  }

  private Grant grant(String gate, int share) {
    return new Grant(gate, share, number);
  }

  private void settle(String... gates) {
    for (String gate : gates) {
      shares.joined(gate, gate);
    }
    settleRounds();
    assertThat(settled()).isTrue();
  }

  private void settleRounds() {
    for (List<Grant> grants = due(); !grants.isEmpty(); grants = due()) {
      grants.forEach(grant -> shares.acknowledged(grant.limiter(), grant.number()));
    }
  }

  private Set<String> served(String... gates) {
    Set<String> served = new HashSet<>();
    for (String gate : gates) {
      if (shares.share(gate).orElseThrow() > 0) {
        served.add(gate);
      }
    }
    return served;
  }

  /** Returns whether all limiters have acknowledged, and no more than the limit is reserved. */
  private boolean settled() {
    Acknowledgements all = shares.acknowledgements();
    return all.present() > 0 && all.unacknowledged() == 0 && shares.reserved() <= shares.limit();
  }
}
