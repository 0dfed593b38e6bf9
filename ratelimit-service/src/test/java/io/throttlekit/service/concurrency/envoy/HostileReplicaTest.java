package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.service.concurrency.envoy.SteeringFleet.Replica;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Load;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Outcome;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.server.Book;
import io.throttlekit.steering.SteeringExchange.Visit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports that no honest replica sends, in simulated time. */
class HostileReplicaTest {
  private static final int MANY = 4_000;
  private static final long HOUR_MICROS = 3_600_000_000L;

  private static final PolicyBook BOOK =
      Book.of(
          """
          domain: shop
          descriptors:
            - {key: up, concurrency: {gate: envoy, cluster: up, min: 4, max: 100, initial: 40}}
          """);

  private final SteeringFleet fleet = new SteeringFleet(2, BOOK);

  /** Reports of Envoys that do not exist, or of an hour ago. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Hostile {
    NOTHING(_ -> null, _ -> null),
    LOADS_OF_10_000_NODES(i -> new Load("n" + i, i, "up", 1L << 48, 0, 0), _ -> null),
    LOADS_OF_10_000_CLUSTERS(i -> new Load("first", i, "c" + i, 1L << 48, 1L << 48, 0), _ -> null),
    LOADS_OF_AN_HOUR_AGO(
        i -> new Load("first", i, "up", 1L << 48, 1L << 48, HOUR_MICROS), _ -> null),
    REFUSALS_OF_10_000_NODES(_ -> null, i -> outcome("n" + i, "up", Kind.LIMIT_REACHED, 0, 0)),
    TIMEOUTS_OF_10_000_CLUSTERS(_ -> null, i -> outcome("first", "c" + i, Kind.TIMED_OUT, 0, 0)),
    TIMEOUTS_OF_AN_HOUR_AGO(_ -> null, _ -> outcome("first", "up", Kind.TIMED_OUT, 0, HOUR_MICROS));

    private final IntFunction<Load> load;
    private final IntFunction<Outcome> outcome;

    Hostile(IntFunction<Load> load, IntFunction<Outcome> outcome) {
      this.load = load;
      this.outcome = outcome;
    }

    private static Outcome outcome(String node, String cluster, Kind kind, long rtt, long age) {
      return new Outcome(node, cluster, kind, rtt, 0, age, "", "");
    }
  }

  @AfterEach
  void stop() {
    fleet.close();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NOTHING")
  void aHostileReportMovesNoShare(Hostile hostile) {
    try (SteeringFleet honest = new SteeringFleet(2, BOOK)) {
      assertThat(course(fleet, hostile)).isEqualTo(course(honest, Hostile.NOTHING));
    }
    assertThat(fleet.replica(0).events.rejections).isEmpty();
    assertThat(fleet.replica(0).events.outcomesDropped)
        .isEqualTo(hostile == Hostile.TIMEOUTS_OF_AN_HOUR_AGO ? 3 * MANY : 0);
  }

  /** Returns the limit, the shares and the requests in flight after each second. */
  private static List<List<Integer>> course(SteeringFleet fleet, Hostile hostile) {
    FakeEnvoy first = fleet.replica(0).connect("first");
    FakeEnvoy second = fleet.replica(1).connect("second");
    List<List<Integer>> course = new ArrayList<>();
    for (int round = 0; round < 6; round++) {
      if (round > 1 && round < 5) {
        List<Load> loads = filled(hostile.load, round);
        List<Outcome> outcomes = filled(hostile.outcome, round);
        send(fleet, "c", new ReplicaReport(5, round, 0, null, loads, List.of(), outcomes));
      }
      load(fleet);
      course.add(
          List.of(
              fleet.replica(0).limit(), first.share("up"), second.share("up"), inFlight(fleet)));
    }
    return course;
  }

  private static <T> List<T> filled(IntFunction<T> items, int round) {
    List<T> list = new ArrayList<>();
    IntStream.range(round * MANY, (round + 1) * MANY)
        .mapToObj(items)
        .filter(Objects::nonNull)
        .forEach(list::add);
    return list;
  }

  @Test
  void aReplayedReportIsRejected() {
    List<Outcome> outcomes =
        Collections.nCopies(100, new Outcome("first", "up", Kind.TIMED_OUT, 0, 0, 0, "", ""));
    ReplicaReport report = new ReplicaReport(5, 7, 0, null, List.of(), List.of(), outcomes);
    send("c", report);
    fleet.pass(100);
    assertThat(fleet.replica(0).events.rejections).isEmpty();
    send("c", report);
    send("c", new ReplicaReport(5, 6, 0, null, List.of(), List.of(), outcomes));
    fleet.pass(100);
    assertThat(fleet.replica(0).events.rejections)
        .hasSize(2)
        .allMatch(reason -> reason.contains("read before"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "1 1 1", "\uFFFD", "1 1 1 0 0 0 - 0 0 0\nmore"})
  void anUnreadableReportIsRejectedAndOthersAreRead(String text) {
    fleet.replica(1).connect("second");
    fleet.pass(1_000);
    var _ = fleet.exchange.visit(new Visit("c", 5, text, 0, 0, null, false));
    fleet.replica(1).load("second", 3, 7, 7);
    fleet.pass(500);
    assertThat(fleet.replica(0).events.rejections).hasSize(1);
    assertThat(inFlight()).isGreaterThanOrEqualTo(7);
  }

  @Test
  void replicasAreBounded() {
    for (int batch = 0; batch < 40; batch++) {
      for (int i = 0; i < 50; i++) {
        send(
            "r" + (batch * 50 + i),
            new ReplicaReport(5, 1, 0, List.of(), List.of(), List.of(), List.of()));
      }
      fleet.pass(60);
    }
    assertThat(fleet.replica(0).events.rejections)
        .hasSizeBetween(500, 1_100)
        .allMatch(reason -> reason.contains("more than 1000 replicas"));
    fleet.pass(5_000);
    fleet.replica(0).events.rejections.clear();
    send("s", new ReplicaReport(5, 1, 0, null, List.of(), List.of(), List.of()));
    fleet.pass(100);
    assertThat(fleet.replica(0).events.rejections).as("the others are gone").isEmpty();
  }

  @Test
  void anEndOfAnotherReplicasStreamEndsNothing() {
    fleet.replica(1).connect("second");
    fleet.pass(1_000);
    fleet.replica(1).load("second", 3, 7, 7);
    fleet.pass(500);
    int before = inFlight();
    List<Left> all = IntStream.range(0, 900).mapToObj(i -> new Left("second", i)).toList();
    send("c", new ReplicaReport(5, 1, 0, null, List.of(), all, List.of()));
    fleet.pass(100);
    assertThat(inFlight()).isEqualTo(before);
  }

  /** A replica reports at most 1,000 ends at a time, and a report may be lost. */
  @Test
  void streamsWhoseEndsAreNotReportedSuppressNoOther() {
    fleet.replica(1).connect("second");
    fleet.pass(1_000);
    int before = inFlight();
    for (int round = 0; round < 8; round++) {
      long first = (long) MANY * round;
      send("c", loads(round + 1, i -> new Load("first", first + i, "up", 0, 0, 0), MANY));
      fleet.pass(60);
    }
    send("c", loads(9, _ -> new Load("second", 1L << 40, "up", 3, 0, 0), 1));
    fleet.pass(100);
    assertThat(inFlight()).isEqualTo(before + 3);
  }

  private static ReplicaReport loads(long sequence, IntFunction<Load> load, int count) {
    List<Load> loads = IntStream.range(0, count).mapToObj(load).toList();
    return new ReplicaReport(5, sequence, 0, null, loads, List.of(), List.of());
  }

  private void send(String replica, ReplicaReport report) {
    send(fleet, replica, report);
  }

  private static void send(SteeringFleet fleet, String replica, ReplicaReport report) {
    var _ =
        fleet.exchange.visit(
            new Visit(replica, report.incarnation(), report.text(), 0, 0, null, false));
  }

  /** Sends a second of a steady, low load. */
  private static void load(SteeringFleet fleet) {
    Replica steering = fleet.replica(0);
    steering.load("first", 1, 2, 20);
    steering.load("second", 2, 2, 20);
    steering.answered("first", 20, 20);
    steering.answered("second", 20, 20);
    fleet.pass(1_000);
  }

  private int inFlight() {
    return inFlight(fleet);
  }

  private static int inFlight(SteeringFleet fleet) {
    List<Integer> seen = new ArrayList<>();
    fleet.replica(0).steering.forEach((_, figures) -> seen.add(figures.inFlight()));
    return seen.getFirst();
  }
}
