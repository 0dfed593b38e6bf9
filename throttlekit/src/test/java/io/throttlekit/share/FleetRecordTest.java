package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.FleetState.NodeKey;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FleetRecordTest {
  private static final SampleDigest DIGEST =
      new SampleDigest(
          90, 1, 12, 7, true, new RequestStatistics(-800, 90, 1_500), List.of(400_000L, 900_000L));

  private static final FleetState STATE = state();

  private static FleetState state() {
    TreeMap<NodeKey, NodeState> nodes = new TreeMap<>();
    nodes.put(
        new NodeKey("\ud800 \0 ☃", Long.MIN_VALUE),
        new NodeState(
            8, true, 3, 5, true, 4, 17, 6, 1_000, 1_700_000_000_000L, 0, false, List.of(DIGEST)));
    nodes.put(
        new NodeKey("b", -1),
        new NodeState(1, false, 2, 0, false, 0, 0, 0, 1, -5, 86_400_000, true, List.of()));
    return new FleetState(nodes, 40, 12, new NodeKey("gone", 3), 1_700_000_001_750L, true);
  }

  @Test
  void isReadAsItWasWritten() {
    assertThat(FleetRecord.read(FleetRecord.write(STATE))).isEqualTo(STATE);
    assertThat(FleetRecord.read(FleetRecord.write(FleetState.EMPTY))).isEqualTo(FleetState.EMPTY);
    assertThat(FleetRecord.read(null)).isEqualTo(FleetState.EMPTY);
  }

  /** Each heartbeat of a fleet reads and writes all its nodes. */
  @Test
  void aNodeTakesAHundredBytes() {
    TreeMap<NodeKey, NodeState> nodes = new TreeMap<>();
    NodeState node = STATE.nodes().get(STATE.nodes().firstKey());
    for (int i = 0; i < 100; i++) {
      nodes.put(new NodeKey("checkout-7d9f8b6c5-x2x%02d".formatted(i), i), node);
    }
    FleetState many = new FleetState(nodes, 40, 12, null, 0, false);
    assertThat(FleetRecord.write(many).length).isLessThan(100 * 100);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_129)
  void aDamagedRecordIsReadOrRejected(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] written = FleetRecord.write(STATE);
    int rejected = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = written.clone();
      for (int change = random.nextInt(1, 4); change > 0; change--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      try {
        assertThat(FleetRecord.read(damaged).reserved()).isNotNegative();
      } catch (IllegalArgumentException _) {
        rejected++;
      }
    }
    assertThat(rejected).as("seed %d", seed).isPositive();
  }

  @Test
  void recordsOfOthersAreRejected() {
    byte[] written = FleetRecord.write(STATE);
    rejects(new byte[] {}, "no fleet");
    rejects(new byte[] {2, 0}, "format 2");
    rejects(Arrays.copyOf(written, written.length - 1), "no fleet");
    rejects(Arrays.copyOf(written, written.length + 1), "bytes follow");
  }

  private static void rejects(byte[] record, String why) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FleetRecord.read(record))
        .withMessageContaining(why);
  }
}
