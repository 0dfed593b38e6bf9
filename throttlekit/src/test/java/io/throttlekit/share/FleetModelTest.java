package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.FleetScope.Faults;
import io.throttlekit.share.FleetScope.Flaw;
import io.throttlekit.share.FleetScope.Network;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the real {@link FleetState} in every order of events of small fleets. */
@Tag("exploration")
class FleetModelTest {
  private static final long MAX_STATES = 600_000;
  private static final FleetScope ONE = FleetScope.of(2, 1, Allocation.EQUAL);
  private static final FleetScope TWO = FleetScope.of(2, 2, Allocation.EQUAL);

  /** The explored fleets, and the events that some orders must include. */
  static Stream<Arguments> scopes() {
    return Stream.of(
        arguments(
            "late and lost answers",
            FleetScope.of(2, 4, Allocation.EQUAL),
            Set.of("unacknowledged share", "raised share", "older share", "evicted")),
        arguments(
            "late and lost answers, shares by demand",
            FleetScope.of(2, 2, Allocation.DEMAND),
            Set.of("unacknowledged share", "raised share", "older share", "evicted")),
        arguments(
            "late and lost heartbeats",
            TWO.with(new Network(1, 1, 0)),
            Set.of("unacknowledged share", "raised share", "answer of another incarnation")),
        arguments(
            "a heartbeat that arrives twice and late",
            TWO.with(new Network(0, 1, 1)),
            Set.of("overtaken heartbeat", "unacknowledged share", "raised share")),
        arguments(
            "a process that crashes while its requests go on",
            ONE.with(new Faults(2, 0, 0, 1)),
            Set.of("remnant", "release elsewhere", "raised share")),
        arguments(
            "a process that leaves and returns",
            ONE.with(new Faults(0, 0, 1, 0)),
            Set.of("raised share", "unacknowledged share", "one id twice")),
        arguments(
            "a departure that overtakes a heartbeat",
            FleetScope.of(1, 2, Allocation.EQUAL)
                .with(new Network(1, 1, 0))
                .with(new Faults(0, 0, 2, 0)),
            Set.of("heartbeat after it left")),
        arguments(
            "a process that ends and begins again with its id",
            TWO.with(new Faults(0, 1, 0, 0)),
            Set.of("one id twice", "raised share", "unacknowledged share")),
        arguments(
            "two processes with one id",
            ONE.withOneId().with(new Network(1, 1, 0)),
            Set.of("one id twice", "raised share", "unacknowledged share")),
        arguments(
            "leases that end",
            ONE.with(new Faults(2, 0, 0, 0)),
            Set.of("expired", "fenced", "answer of an ended lease", "evicted", "raised share")));
  }

  static Stream<Arguments> largeScopes() {
    return Stream.of(
        arguments("three processes", FleetScope.of(3, 2, Allocation.EQUAL), Set.of("raised share")),
        arguments("by demand", FleetScope.of(2, 4, Allocation.DEMAND), Set.of("raised share")),
        arguments("twice", TWO.with(new Network(1, 1, 1)), Set.of("overtaken heartbeat")),
        arguments("overtaking", ONE.with(new Network(2, 1, 0)), Set.of("overtaken heartbeat")),
        arguments(
            "two answers",
            FleetScope.of(2, 4, Allocation.EQUAL).with(new Network(0, 2, 0)),
            Set.of()),
        arguments(
            "leaving",
            ONE.with(new Network(1, 1, 0)).with(new Faults(0, 0, 1, 0)),
            Set.of("heartbeat after it left")),
        arguments("leases", ONE.with(new Faults(3, 0, 0, 0)), Set.of("expired", "fenced")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scopes")
  void requestsInFlightNeverExceedAConstantLimit(
      String what, FleetScope scope, Set<String> interesting) {
    Set<String> reached = new HashSet<>();
    Exploration seen = Explorer.explore(new FleetModel(scope, reached), MAX_STATES);
    assertThat(seen.violation()).as(what).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
    assertThat(reached).as(what).containsAll(interesting);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("largeScopes")
  @Tag("thorough")
  void requestsInFlightNeverExceedAConstantLimitInLargerFleets(
      String what, FleetScope scope, Set<String> interesting) {
    requestsInFlightNeverExceedAConstantLimit(what, scope, interesting);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "APPLIES_OLDER_SHARES, Covered, 2, 0",
    "REPORTS_REQUESTS_OF_BEFORE, Covered, 1, 0",
    "APPLIES_SHARES_OF_ENDED_LEASES, Covered, 1, 3",
    "GOES_ON_AFTER_ITS_LEASE, Covered, 1, 3",
  })
  void aProcessThatDoesNotFollowTheRulesIsNotCovered(
      Flaw flaw, String broken, int answers, int ticks) {
    FleetScope scope =
        TWO.with(new Network(0, answers, 0)).with(new Faults(ticks, 0, 0, 0)).with(flaw);
    Exploration seen = Explorer.explore(new FleetModel(scope, new HashSet<>()), MAX_STATES);
    assertThat(seen.broken()).isEqualTo(broken);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(names = {"REPORTS_NO_TIME_TO_LIVE", "REPORTS_RELEASES_THAT_THE_PROCESS_HAS_SEEN"})
  void requestsOfACrashedProcessExceedTheLimitIfARuleIsNotFollowed(Flaw flaw) {
    FleetScope scope = ONE.with(new Faults(3, 0, 0, 1)).with(flaw);
    Exploration seen = Explorer.explore(new FleetModel(scope, new HashSet<>()), MAX_STATES);
    assertThat(seen.broken()).isEqualTo("InflightCap");
  }

  @ParameterizedTest(name = "limit {0}")
  @CsvSource({"2, 3", "4, 6"})
  void withoutAcknowledgementsTwoProcessesExceedTheLimitByUpToAHalf(int limit, int most) {
    FleetScope two = FleetScope.of(2, limit, Allocation.EQUAL);
    assertThat(unacknowledged(two, most).violation()).isNull();
    assertThat(unacknowledged(two, most - 1).broken()).isEqualTo("InflightCap");
  }

  @Test
  @Tag("thorough")
  void withoutAcknowledgementsThreeProcessesExceedTheLimitByMore() {
    FleetScope three = FleetScope.of(3, 2, Allocation.EQUAL);
    assertThat(unacknowledged(three, 3).broken()).isEqualTo("InflightCap");
  }

  private static Exploration unacknowledged(FleetScope scope, int maxInFlight) {
    FleetModel model = new FleetModel(scope.unacknowledged(maxInFlight), new HashSet<>());
    return Explorer.explore(model, MAX_STATES);
  }
}
