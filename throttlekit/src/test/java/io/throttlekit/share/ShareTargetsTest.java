package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests what each node is to get of a limit. */
class ShareTargetsTest {
  private static final long TURN = 5_000;

  @Test
  void nodesThatUseTheirSharesDivideTheLimit() {
    assertThat(targets(10, node(3, 3), node(3, 3), node(3, 3))).containsExactly(4L, 3L, 3L);
    assertThat(targets(11, node(3, 3), node(3, 3), node(3, 3))).containsExactly(4L, 4L, 3L);
  }

  @Test
  void aNodeThatUsesLessKeepsThatAndOneMore() {
    assertThat(targets(11, node(4, 1), node(3, 3), node(3, 3))).containsExactly(2L, 5L, 4L);
    assertThat(targets(11, node(3, 3), node(4, 1), node(3, 3))).containsExactly(5L, 2L, 4L);
    assertThat(targets(11, node(3, 3), node(3, 3), node(4, 1))).containsExactly(5L, 4L, 2L);
  }

  @Test
  void nodesThatAllUseLessDivideTheRest() {
    assertThat(targets(10, node(3, 1), node(3, 1), node(3, 1))).containsExactly(4L, 3L, 3L);
  }

  @Test
  void aNodeGetsAtLeastOne() {
    assertThat(targets(4, node(3, 2), node(0, 1), node(0, 0))).containsExactly(2L, 1L, 1L);
  }

  @Test
  void sharesAboveALoweredLimitFallToOneLevel() {
    assertThat(targets(6, node(8, 0), node(4, 4), node(1, 1))).containsExactly(1L, 2L, 1L);
    assertThat(targets(6, node(8, 7), node(4, 3), node(1, 0))).containsExactly(3L, 2L, 1L);
  }

  @Test
  void withFewerPermitsThanNodesTheyTakeTurns() {
    NodeState[] nodes = {node(1, 1), node(1, 1), node(0, 1)};
    assertThat(targetsAt(0, 2, nodes)).containsExactly(1L, 1L, 0L);
    assertThat(targetsAt(TURN - 1, 2, nodes)).containsExactly(1L, 1L, 0L);
    assertThat(targetsAt(TURN, 2, nodes)).containsExactly(1L, 0L, 1L);
    assertThat(targetsAt(2 * TURN, 2, nodes)).containsExactly(0L, 1L, 1L);
  }

  @Test
  void nodesWithoutRequestsHaveNoTurnBeforeThoseWithSome() {
    assertThat(targetsAt(0, 1, node(0, 0), node(0, 1))).containsExactly(0L, 1L);
    assertThat(targetsAt(TURN, 1, node(0, 0), node(0, 1))).containsExactly(0L, 1L);
    assertThat(targetsAt(0, 1, node(0, 0), node(0, 0))).containsExactly(1L, 0L);
  }

  @Test
  void equalSharesDivideTheLimit() {
    List<NodeState> members = List.of(node(1, 1), node(2, 0), node(0, 0));
    ShareTargets targets = new ShareTargets(8, members);
    assertThat(List.of(targets.equal(0), targets.equal(1), targets.equal(2)))
        .containsExactly(3L, 3L, 2L);
  }

  private static List<Long> targets(int limit, NodeState... nodes) {
    return targetsAt(0, limit, nodes);
  }

  private static List<Long> targetsAt(long nowMillis, int limit, NodeState... nodes) {
    ShareTargets targets = new ShareTargets(limit, List.of(nodes));
    return IntStream.range(0, nodes.length)
        .mapToObj(self -> targets.byDemand(self, nowMillis))
        .toList();
  }

  private static NodeState node(int share, int peak) {
    return new NodeState(1, true, 0, peak, false, share, 1, share, 1, 60_000, 0, false, List.of());
  }
}
