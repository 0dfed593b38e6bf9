package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.steering.Acknowledgements;
import io.throttlekit.steering.SteeringExchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests what does not need the streams themselves; see ReplicatedLimitsTest. */
class LimitDivisionTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);
  private static final ClusterLimit DOWN = new ClusterLimit("down", Priority.HIGH);

  private final LimitDivision division = from(SharePlan.EMPTY, 1);

  @Test
  void thePlanIsNeverLongerThanARecord() {
    division.offer(UP, 1 << 30);
    division.offer(DOWN, 1 << 30);
    List<StreamState> streams = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      streams.add(stream("x".repeat(250) + i, i, 0));
    }
    division.reported("r", streams, 0);
    SharePlan plan = division.round(0);
    assertThat(plan.text().length()).isBetween(1 << 20, SteeringExchange.MAX_RECORD);
    assertThat(plan.parts()).hasSizeBetween(5_000, 15_000);
    division.reported("r", streams.subList(19_000, 20_000), 0);
    division.round(0);
    division.round(LimitServerSettings.DEFAULT.lease().toNanos());
    SharePlan later = division.round(LimitServerSettings.DEFAULT.lease().toNanos());
    assertThat(later.parts()).hasSize(1_000); // now that the shares of others are free
  }

  @Test
  void aLimitThatIsWithdrawnAndOfferedAgainReservesWhatIsStillApplied() {
    division.offer(UP, 10);
    division.reported("r", List.of(stream("a", 1, 0)), 0);
    long granted = division.round(0).number();
    StreamState applying =
        new StreamState("a", "%016x".formatted(1), granted, granted, Map.of(UP, 10));
    division.reported("r", List.of(applying), 0);
    division.withdraw(UP);
    assertThat(division.round(0).limits()).isEmpty();
    assertThat(division.reserved(UP)).isEmpty();
    assertThat(division.acknowledgements(UP)).isNull();
    division.offer(UP, 4); // before the Envoy has acknowledged an empty layer
    division.round(0);
    assertThat(division.reserved(UP)).containsEntry("a", 10L);
  }

  @Test
  void aNewStreamSucceedsAPartOfTheLastPlanOnlyWhenItsReplicaHasHadTimeToReport() {
    division.offer(UP, 10);
    division.reported("r", List.of(stream("a", 1, 0)), 0);
    SharePlan last = division.round(0);
    LimitDivision next = from(last, 2);
    next.reported("s", List.of(stream("a", 2, 0)), 0);
    next.round(0);
    assertThat(next.round(2_999_999_999L).part("a", "%016x".formatted(2))).isNull();
    SharePlan.Part successor = next.round(3_000_000_000L).part("a", "%016x".formatted(2));
    assertThat(Objects.requireNonNull(successor).granted()).containsEntry(UP, 10);
  }

  @Test
  void aPartWhoseReplicaReportsLateIsNotSucceeded() {
    division.offer(UP, 10);
    division.reported("r", List.of(stream("a", 1, 0)), 0);
    LimitDivision next = from(division.round(0), 2);
    next.reported("s", List.of(stream("a", 2, 0)), 0);
    next.round(0);
    next.reported("r", List.of(stream("a", 1, 0)), 1);
    assertThat(next.round(3_000_000_000L).part("a", "%016x".formatted(1))).isNotNull();
    assertThat(next.reserved(UP)).containsEntry("a", 10L);
  }

  @Test
  void aPartHasAShareOfEachLimit() {
    division.offer(UP, 10);
    division.reported("r", List.of(stream("a", 1, 0)), 0);
    division.round(0);
    division.offer(DOWN, 7);
    SharePlan.Part part = division.round(0).parts().iterator().next();
    assertThat(part.granted()).containsOnly(Map.entry(UP, 10), Map.entry(DOWN, 7));
  }

  @Test
  void aPartWithoutLimitsIsForgottenWithItsStream() {
    division.reported("r", List.of(stream("a", 1, 0)), 0);
    assertThat(division.round(0)).isSameAs(SharePlan.EMPTY);
    division.reported("r", List.of(), 0);
    division.round(0);
    division.offer(UP, 10);
    assertThat(division.round(0).parts()).isEmpty();
  }

  @Test
  void anEnvoyThatMovesWithinAVisitDoesNotLeave() {
    division.offer(UP, 10);
    division.reported("one", List.of(stream("a", 1, 0)), 0);
    division.round(0);
    division.reported("one", List.of(), 0);
    division.reported("other", List.of(stream("a", 1, 0)), 0);
    division.round(0);
    assertThat(acknowledgements().present()).isEqualTo(1);
    division.gone("one");
    division.gone("unknown");
    division.round(0);
    assertThat(acknowledgements().present()).isEqualTo(1);
    assertThat(division.streams()).isEqualTo(1);
  }

  @Test
  void numbersStayExactInEveryStore() {
    SharePlan last = from(SharePlan.EMPTY, 4_000_000_000_000L).round(0); // in the year 2096
    assertThat(last).isSameAs(SharePlan.EMPTY);
    LimitDivision late = from(SharePlan.EMPTY, 4_000_000_000_000L);
    late.offer(UP, 1);
    assertThat(late.round(0).number()).isLessThan(1L << 53);
    LimitDivision foreign = from(SharePlan.EMPTY, Long.MAX_VALUE);
    foreign.offer(UP, 1);
    assertThat(foreign.round(0).number()).isEqualTo(1);
  }

  @Test
  void streamsOutOfRangeAreRejected() {
    assertThatThrownBy(() -> stream("", 1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> stream("a\nb", 1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> stream("a", 1, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StreamState("a", "xyz", 0, 0, Map.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StreamState("a", "%016x".formatted(1), 1, 2, Map.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StreamState("a", "%016x".formatted(1), 1, 1, Map.of(UP, -1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> division.offer(UP, -1)).isInstanceOf(IllegalArgumentException.class);
  }

  private Acknowledgements acknowledgements() {
    return Objects.requireNonNull(division.acknowledgements(UP));
  }

  private static StreamState stream(String node, int token, long acknowledged) {
    return new StreamState(node, "%016x".formatted(token), acknowledged, acknowledged, Map.of());
  }

  private static LimitDivision from(SharePlan last, long epoch) {
    return LimitDivision.from(last, epoch, LimitServerSettings.DEFAULT, (_, _, _) -> {}, 0);
  }
}
