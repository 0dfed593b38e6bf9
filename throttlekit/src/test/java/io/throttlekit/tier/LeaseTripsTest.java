package io.throttlekit.tier;

import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.InMemoryStore;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts the round trips that nodes need for the units they admit. */
class LeaseTripsTest {
  private static final int BATCH = 100;
  private static final FixedWindow LIMIT = new FixedWindow(1_000, 10_000);

  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final InMemoryStore counters = new InMemoryStore(storeTime, 10_000);

  @Test
  void aSingleNodeLeasesOncePerBatchUnderThreeTimesTheLimit() {
    HeldStore store = new HeldStore(counters);
    Node node = new Node(store);
    for (int window = 1; window <= 3; window++) {
      assertThat(node.admitted(3_000, leased(LIMIT, BATCH, 1))).isEqualTo(1_000);
      assertThat(store.leases).hasSize(window * 10);
      node.time.advance(10_000);
      storeTime.advance(10_000);
    }
    assertThat(store.acquired).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void eachOfSeveralNodesLeasesAtMostOnceMoreThanItsBatches(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<HeldStore> stores =
        List.of(new HeldStore(counters), new HeldStore(counters), new HeldStore(counters));
    List<Node> nodes = stores.stream().map(Node::new).toList();
    int[] admitted = new int[nodes.size()];
    for (int i = 0; i < 3_000; i++) {
      // the last node has the highest load
      int node = Math.min(random.nextInt(5), nodes.size() - 1);
      admitted[node] += nodes.get(node).admitted(1, leased(LIMIT, BATCH, 1));
    }
    assertThat(admitted[0] + admitted[1] + admitted[2]).isEqualTo(1_000);
    for (int i = 0; i < nodes.size(); i++) {
      int batches = Math.ceilDiv(admitted[i], BATCH);
      assertThat(stores.get(i).leases.size()).as("node %d", i).isBetween(batches, batches + 1);
      assertThat(stores.get(i).acquired).isEmpty();
    }
  }
}
