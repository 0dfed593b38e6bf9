package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules by which every {@link ConcurrencyCoordinator} finds the limit of the fleet: of the
 * limits of the nodes, or by a node that computes it from the samples of all nodes.
 */
public abstract class SteeringConformance extends RemnantConformance {

  @Test
  void anAnswerHasTheSharesThatNodesMayApply() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertThat(a.beat(20, 20).applied()).isEqualTo(20);
    assertThat(b.beat(20, 0).applied()).isEqualTo(20);
    ShareGrant lowered = a.beat(20, 20);
    assertThat(lowered.share()).isEqualTo(10);
    assertThat(lowered.applied()).as("until it is acknowledged").isEqualTo(20);
    assertThat(a.beat(20, 10).applied()).isEqualTo(10);
  }

  @Test
  void theFirstNodeSteersAndRenewsItsLeaseWithEachHeartbeat() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertSteers(a.beat(20, 0), "a", 1);
    assertSteers(b.beat(20, 0), "a", 0);
    for (int i = 0; i < 10; i++) {
      advance(FleetState.STEERING_MILLIS);
      assertSteers(b.beat(20, 0), "a", 0);
      assertSteers(a.beat(20, 0), "a", 1);
    }
  }

  @Test
  void aSilentNodeLosesTheSteeringLeaseWhileItIsAMember() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(20, 0);
    ShareGrant taken =
        await(
            b,
            20,
            grant -> {
              b.publishing(1, 99); // not taken, not even with the heartbeat that takes the lease
              return grant.epoch() > 0;
            });
    assertSteers(taken, "b", 2);
    assertThat(taken.nodes()).as("a is still a member").isEqualTo(2);
    assertSteers(a.publishing(1, 10).beat(20, 0), "b", 0);
    assertThat(b.beat(20, 0).limit()).as("a published too late").isEqualTo(20);
    assertThat(b.publishing(2, 30).beat(20, 0).limit()).isEqualTo(30);
  }

  @Test
  void theSteeringLeaseOfANodeThatLeftOrWasEvictedIsGivenToTheNext() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode c = new FleetNode(coordinator, "c", 1);
    a.beat(20, 0);
    c.beat(20, 0);
    a.leave(5);
    assertSteers(b.beat(20, 0), "b", 2);
    b.withLease(1).beat(20, 0);
    assertSteers(await(c, 20, grant -> grant.nodes() == 1), "c", 3);
  }

  @Test
  void aRestartedNodeDoesNotContinueToSteer() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    new FleetNode(coordinator, "a", 1).beat(20, 0);
    assertSteers(new FleetNode(coordinator, "a", 2).publishing(1, 10).beat(20, 0), "a", 0);
  }

  @Test
  void onlyTheSteeringNodePublishesTheLimitAndUnderItsEpoch() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertThat(a.publishing(1, 7).beat(20, 0).limit()).as("before it steers").isEqualTo(20);
    assertThat(b.publishing(1, 7).beat(50, 0).limit()).isEqualTo(20);
    assertThat(a.publishing(0, 7).beat(20, 0).limit()).isEqualTo(20);
    assertThat(a.publishing(2, 7).beat(20, 0).limit()).isEqualTo(20);
    assertThat(a.publishing(1, 12).beat(20, 0).limit()).isEqualTo(12);
    assertThat(b.beat(50, 0).limit()).isEqualTo(12);
    assertThat(a.publishing(1, -3).beat(20, 0).limit()).as("at least 1").isEqualTo(1);
    assertThat(a.publishing(1, Integer.MAX_VALUE).beat(20, 0).limit())
        .isEqualTo(Heartbeat.MAX_REQUESTS);
  }

  @Test
  void theSteeringNodeCallsForFrequentHeartbeatsOfAllNodes() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(20, 0);
    assertThat(b.calling(1, 20).beat(20, 0).frequent()).as("b does not steer").isFalse();
    assertThat(a.calling(2, 20).beat(20, 0).frequent()).as("another epoch").isFalse();
    assertThat(a.calling(1, 20).beat(20, 0).frequent()).isTrue();
    assertThat(b.beat(20, 0).frequent()).isTrue();
    assertThat(a.publishing(1, 20).beat(20, 0).frequent()).isFalse();
    assertThat(b.beat(20, 0).frequent()).isFalse();
    a.calling(1, 20).beat(20, 0);
    assertThat(a.beat(20, 0).frequent()).as("without a limit").isFalse();
    assertThat(b.beat(20, 0).frequent()).isFalse();
  }

  @Test
  void frequentHeartbeatsEndWithTheLeaseOfTheSteeringNode() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode c = new FleetNode(coordinator, "c", 1);
    a.beat(20, 0);
    b.beat(20, 0);
    assertThat(a.calling(1, 20).beat(20, 0).frequent()).isTrue();
    ShareGrant taken = await(b, 20, grant -> grant.epoch() > 0);
    assertThat(taken.frequent()).isFalse();
    assertThat(c.beat(20, 0).frequent()).isFalse();
    b.calling(2, 20).beat(20, 0);
    assertThat(c.beat(20, 0).frequent()).isTrue();
    b.leave(0);
    assertThat(c.beat(20, 0).frequent()).isFalse();
  }

  @Test
  void anOvertakenHeartbeatPublishesNothing() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    a.beat(20, 0);
    Heartbeat overtaken = a.publishing(1, 5).measuring(digest(3)).next(20, 0, 0);
    ShareGrant newest = a.publishing(1, 12).beat(20, 0);
    assertThat(newest.limit()).isEqualTo(12);
    assertThat(a.send(overtaken)).isEqualTo(newest);
    assertThat(a.beat(20, 0).digests()).isEmpty();
  }

  @Test
  void digestsOfAllNodesAreDeliveredOnceToTheSteeringNode() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode c = new FleetNode(coordinator, "c", 1);
    assertThat(b.measuring(digest(1)).beat(20, 0).digests()).containsExactly(digest(1));
    assertThat(a.measuring(digest(2)).beat(20, 0).digests()).isEmpty();
    assertThat(c.measuring(digest(3)).beat(20, 0).digests()).isEmpty();
    assertThat(c.beat(20, 0).digests()).isEmpty();
    assertThat(b.measuring(digest(4)).beat(20, 0).digests())
        .containsExactly(digest(2), digest(4), digest(3));
    assertThat(b.beat(20, 0).digests()).isEmpty();
    a.measuring(digest(5)).beat(20, 0);
    assertThat(b.beat(20, 0).digests()).containsExactly(digest(5));
  }

  @Test
  void theNewestFourDigestsOfANodeWaitForTheSteeringNode() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(20, 0);
    for (int i = 1; i <= 6; i++) {
      b.measuring(digest(i)).beat(20, 0);
    }
    assertThat(a.beat(20, 0).digests()).containsExactly(digest(3), digest(4), digest(5), digest(6));
  }

  @Test
  void digestsThatWaitedAreDeliveredToTheNextSteeringNode() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(20, 0);
    b.measuring(digest(1)).beat(20, 0);
    a.leave(0);
    assertThat(b.measuring(digest(2)).beat(20, 0).digests()).containsExactly(digest(1), digest(2));
  }

  @Test
  void digestsAreDeliveredAsTheyWere() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    List<Long> latencies =
        LongStream.rangeClosed(1, SampleDigest.MAX_LATENCIES)
            .mapToObj(i -> i * 179_000_000_001L)
            .toList();
    RequestStatistics statistics = new RequestStatistics(-3_599_999_999_999L, 1, 123_456_789);
    SampleDigest full =
        new SampleDigest(1L << 40, 1L << 39, 12_345_678_901L, 77, true, statistics, latencies);
    SampleDigest empty =
        new SampleDigest(0, 0, 0, 0, false, new RequestStatistics(0, 0, 2_500), List.of());
    FleetNode a = new FleetNode(coordinator, "a", 1);
    assertThat(a.measuring(full).beat(20, 0).digests()).containsExactly(full);
    assertThat(a.measuring(empty).beat(20, 0).digests()).containsExactly(empty);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE})
  void statisticsOutOfRangeAreDeliveredAsTheyWereClamped(long number) {
    FleetNode a = new FleetNode(coordinator(Coordination.DEFAULT), "a", 1);
    SampleDigest digest =
        new SampleDigest(
            1, 0, 0, 1, false, new RequestStatistics(number, number, number), List.of(1_000L));
    assertThat(a.measuring(digest).beat(20, 0).digests()).containsExactly(digest);
  }

  @Test
  void theLimitIsAnInferredOneOfTheNodesAndNeverTheirSum() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MEDIAN, Allocation.EQUAL, true));
    List<FleetNode> nodes = nodes(coordinator, 5);
    int[] limits = {30, 10, 50, 20, 40};
    int[] medians = {30, 10, 30, 20, 30}; // the lower one of an even number
    for (int i = 0; i < limits.length; i++) {
      assertThat(nodes.get(i).beat(limits[i], 0).limit()).isEqualTo(medians[i]);
    }
    assertThat(nodes.get(2).beat(5, 0).limit()).isEqualTo(20);
    nodes.get(3).leave(0);
    assertThat(nodes.get(0).beat(30, 0).limit()).as("of 5, 10, 30, 40").isEqualTo(10);
  }

  @ParameterizedTest
  @EnumSource(
      value = Aggregate.class,
      names = {"MIN", "MEDIAN"})
  void aNodeWithoutSamplesHasNoVote(Aggregate aggregate) {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(aggregate, Allocation.EQUAL, true));
    List<FleetNode> nodes = nodes(coordinator, 3);
    assertThat(nodes.get(0).sampled(false).beat(40, 0).limit()).as("the first one").isEqualTo(40);
    assertThat(nodes.get(1).sampled(false).beat(4, 0).limit()).isEqualTo(40);
    assertThat(nodes.get(2).beat(60, 0).limit()).isEqualTo(60);
    assertThat(nodes.get(2).sampled(false).beat(8, 0).limit()).as("without votes").isEqualTo(60);
    assertThat(nodes.get(1).sampled(true).beat(4, 0).limit()).isEqualTo(4);
  }

  @Test
  void aPooledLimitBeginsAsThatOfTheFirstNode() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    List<FleetNode> nodes = nodes(coordinator, 2);
    assertThat(nodes.get(0).beat(12, 0).limit()).isEqualTo(12);
    assertThat(nodes.get(1).beat(4, 0).limit()).isEqualTo(12);
    assertThat(nodes.get(0).beat(90, 0).limit()).isEqualTo(12);
  }

  private static SampleDigest digest(int samples) {
    return new SampleDigest(
        samples, 2, 3, 4, false, RequestStatistics.NONE, List.of(1_000_000L + samples));
  }

  private static void assertSteers(ShareGrant grant, String steering, long epoch) {
    assertThat(grant)
        .extracting(ShareGrant::steering, ShareGrant::epoch)
        .containsExactly(steering, epoch);
  }
}
