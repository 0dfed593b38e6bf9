package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.FleetState.Outcome;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant.Status;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers that others have written to a store. */
class FleetStateTest {
  private static final long NOW = 1_700_000_000_000L;
  private static final NodeKey SELF = new NodeKey("a", 1);
  private static final NodeKey OTHER = new NodeKey("b", 1);

  @ParameterizedTest
  @ValueSource(longs = {NOW + 2 * FleetState.STEERING_MILLIS + 1, Long.MAX_VALUE})
  void aSteeringLeaseThatEndsLaterThanAnyHasEnded(long until) {
    FleetState written = fleet(Heartbeat.MAX_REQUESTS, 7, OTHER, until);
    Outcome taken = beat(written, 1, null);
    assertThat(taken.grant().epoch()).isEqualTo(8);
    assertThat(beat(taken.next(), 2, new Publication(8, 12)).grant().limit()).isEqualTo(12);
  }

  @Test
  void aSteeringLeaseOutlastsAClockThatStepsBackByItsLength() {
    FleetState held = fleet(20, 7, OTHER, NOW + 2 * FleetState.STEERING_MILLIS);
    assertThat(beat(held, 1, null).grant().epoch()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, Long.MIN_VALUE, FleetState.MAX_NUMBER, Long.MAX_VALUE})
  void aNodeSteersWhateverTheNumberOfTheLastLease(long epoch) {
    Outcome first = beat(fleet(20, epoch, null, 0), 1, null);
    assertThat(first.grant().epoch()).isPositive();
    FleetState taken = first.next();
    FleetState renewed = beat(with(taken, epoch), 2, null).next();
    for (FleetState each : List.of(taken, renewed)) {
      ShareGrant grant = beat(each, 3, new Publication(each.epoch(), 12)).grant();
      assertThat(grant.epoch()).isPositive();
      assertThat(grant.limit()).isEqualTo(12);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aLimitOutOfRangeIsClamped(int limit) {
    ShareGrant grant = beat(fleet(limit, 1, OTHER, NOW + 1), 1, null).grant();
    assertThat(grant.limit()).isEqualTo(limit < 0 ? 20 : Heartbeat.MAX_REQUESTS);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, FleetState.MAX_NUMBER, Long.MAX_VALUE})
  void theGenerationOfAChangedShareIsAlwaysAnother(long generation) {
    NodeState before = node(1, generation, 1);
    NodeState after = before.granted(2, true);
    assertThat(after.generation()).isPositive().isNotEqualTo(before.generation());
  }

  @Test
  void aNodeWhoseSequenceWasRaisedJoinsAnewWhenItsLeaseHasEnded() {
    TreeMap<NodeKey, NodeState> nodes = new TreeMap<>();
    nodes.put(SELF, node(1, 1, Long.MAX_VALUE));
    FleetState written = new FleetState(nodes, 20, 1, SELF, NOW + 1, false);
    assertThat(written.heartbeat(Coordination.DEFAULT, heartbeat(9, null), NOW + 2_001).grant())
        .extracting(ShareGrant::status)
        .isEqualTo(Status.EVICTED);
  }

  private static FleetState fleet(int limit, long epoch, @Nullable NodeKey steering, long until) {
    TreeMap<NodeKey, NodeState> nodes = new TreeMap<>();
    nodes.put(OTHER, node(1, 1, 1));
    return new FleetState(nodes, limit, epoch, steering, until, false);
  }

  private static FleetState with(FleetState fleet, long epoch) {
    return new FleetState(
        fleet.nodes(), fleet.limit(), epoch, fleet.steering(), fleet.steeringUntilMillis(), false);
  }

  private static NodeState node(int share, long generation, long sequence) {
    return new NodeState(
        20,
        true,
        0,
        0,
        false,
        share,
        generation,
        share,
        sequence,
        NOW + 2_000,
        0,
        false,
        List.of());
  }

  private static Outcome beat(FleetState fleet, long sequence, @Nullable Publication publication) {
    return fleet.heartbeat(Coordination.DEFAULT, heartbeat(sequence, publication), NOW);
  }

  private static Heartbeat heartbeat(long sequence, @Nullable Publication publication) {
    return new Heartbeat("k", "a", 1, sequence, 20, true, 0, 0, 1, 0, 2_000, 0, publication, null);
  }
}
