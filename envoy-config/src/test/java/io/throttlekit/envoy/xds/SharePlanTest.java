package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.steering.SteeringExchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharePlanTest {
  private static final long WALL_MILLIS = 1_800_000_000_000L;

  @Test
  void aPlanIsReadAsItWasWritten() {
    SharePlan plan =
        plan(
            List.of("up", "outbound|80||ünï.local", " a\tb\nc\\%+ \u0000"),
            List.of("envoy 1", "ζ → 雪 🧊", "a,b;c|d\"'\\", "n".repeat(256)));
    SharePlan read = SharePlan.parse(plan.text(), plan.number());
    assertThat(read.number()).isEqualTo(plan.number());
    assertThat(read.limits()).isEqualTo(plan.limits());
    assertThat(read.parts()).containsExactlyElementsOf(plan.parts());
    assertThat(read.text()).isEqualTo(plan.text()).doesNotContain("\u0000");
    assertThat(read.limits().values()).containsExactlyInAnyOrder(400, 401, 402);
    SharePlan.Part part = read.parts().iterator().next();
    assertThat(read.part(part.node(), part.token())).isEqualTo(part);
    assertThat(read.part(part.node(), "0".repeat(16))).isNull();
  }

  @Test
  void aPlanWithoutEnvoysOrLimitsIsReadAsItWasWritten() {
    assertThat(SharePlan.parse(SharePlan.EMPTY.text(), 7).limits()).isEmpty();
    SharePlan plan = plan(List.of("up"), List.of());
    assertThat(SharePlan.parse(plan.text(), plan.number()).limits()).isEqualTo(plan.limits());
  }

  @Test
  void aThousandEnvoysWithFourLimitsTakeAQuarterOfAMebibyte() {
    List<String> nodes = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      nodes.add("envoy-gateway-7d9f8b6c5d-%05d.eu-central-1a".formatted(i));
    }
    SharePlan plan = plan(List.of("checkout", "payments", "search", "profile"), nodes);
    assertThat(plan.parts()).hasSize(1_000);
    assertThat(plan.text().length()).isLessThan(256 << 10);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "shares 1",
        "shares 2\n",
        "shares 1\n\n",
        "shares 1\nlimit\tDEFAULT\t1\n",
        "shares 1\nlimit\tDEFAULT\t1\t\n",
        "shares 1\nlimit\tLOW\t1\tup\n",
        "shares 1\nlimit\tDEFAULT\t-1\tup\n",
        "shares 1\nlimit\tDEFAULT\t01\tup\n",
        "shares 1\nlimit\tDEFAULT\t2147483648\tup\n",
        "shares 1\nlimit\tDEFAULT\t1\t%zz\n",
        "shares 1\nlimit\tDEFAULT\t1\tu p\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\nlimit\tDEFAULT\t1\tup\n",
        "shares 1\npart\t0123456789abcdef\ta\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcde\ta\t1,0,1,1,0,1\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\t\t1,0,1,1,0,1\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t1,0,1,1,0,1\t\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t1,0,1,1,0\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t1,0,1,1,0,4\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t1,7,1,1,0,1\n",
        "shares 1\nlimit\tDEFAULT\t1\tup\npart\t0123456789abcdef\ta\t2,0,1,1,0,1\n",
        """
        shares 1
        limit\tDEFAULT\t1\tup
        part\t0123456789abcdef\ta\t1,0,1,1,0,1
        limit\tHIGH\t1\tup
        """,
      })
  void anyOtherTextIsRejected(String text) {
    assertThatThrownBy(() -> SharePlan.parse(text, 7)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void overlongTextsAndNegativeNumbersAreRejected() {
    String overlong = SharePlan.EMPTY.text() + "x".repeat(SteeringExchange.MAX_RECORD);
    assertThatThrownBy(() -> SharePlan.parse(overlong, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SharePlan.parse(SharePlan.EMPTY.text(), -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void hostileTextIsRejectedOrReadAsAPlanOfTheSameText() {
    long seed = 20_261_126;
    SplittableRandom random = new SplittableRandom(seed);
    SharePlan plan = plan(List.of("up", "down stream"), List.of("a b", "雪", "c"));
    int rejected = 0;
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      String text = mutated(plan.text(), random);
      try {
        SharePlan hostile = SharePlan.parse(text, plan.number());
        assertThat(hostile.text()).as("seed %d, case %d", seed, i).isEqualTo(text);
        read++;
      } catch (IllegalArgumentException expected) {
        rejected++;
      }
    }
    assertThat(rejected).isGreaterThan(5_000);
    assertThat(read).isGreaterThan(200);
  }

  private static String mutated(String text, SplittableRandom random) {
    StringBuilder mutated = new StringBuilder(text);
    String pieces = "0123456789-,\t\n%+abcdef \u0000\ud83d雪";
    int changes = 1 + random.nextInt(3);
    for (int i = 0; i < changes && !mutated.isEmpty(); i++) {
      int at = random.nextInt(mutated.length());
      char piece = pieces.charAt(random.nextInt(pieces.length()));
      switch (random.nextInt(5)) {
        case 0 -> mutated.insert(at, piece);
        case 1 -> mutated.deleteCharAt(at);
        case 2 -> mutated.setCharAt(at, piece);
        case 3 -> mutated.setLength(at);
        default ->
            mutated.insert(at, mutated.substring(at, at + random.nextInt(mutated.length() - at)));
      }
    }
    return mutated.toString();
  }

  /** Returns a plan in which each Envoy has acknowledged its share. */
  private static SharePlan plan(List<String> clusters, List<String> nodes) {
    LimitDivision division =
        LimitDivision.from(
            SharePlan.EMPTY, WALL_MILLIS, LimitServerSettings.DEFAULT, (_, _, _) -> {}, 0);
    for (String cluster : clusters) {
      division.offer(new ClusterLimit(cluster, Priority.DEFAULT), 400 + clusters.indexOf(cluster));
    }
    List<StreamState> streams = new ArrayList<>();
    for (String node : nodes) {
      streams.add(new StreamState(node, "%016x".formatted(streams.size()), 0, 0, Map.of()));
    }
    division.reported("r", streams, 0);
    long number = division.round(0).number();
    streams.replaceAll(
        stream -> new StreamState(stream.node(), stream.token(), number, number, Map.of()));
    division.reported("r", streams, 0);
    for (String node : nodes) {
      for (String cluster : clusters) {
        division.demand(new ClusterLimit(cluster, Priority.DEFAULT), node, 100, 100, 0);
      }
    }
    return division.round(0);
  }
}
