package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories of fleets, with fixed seeds: a coordinator answers each call as {@link
 * FleetState} does, by the same clock.
 */
public abstract class ConcurrencyCoordinatorDifferential {
  private static final long START = 1_700_000_000_000L;

  private final ManualTime clock = new ManualTime(START);
  private final Map<String, FleetState> expected = new HashMap<>();
  private final List<ShareGrant> grants = new ArrayList<>();

  /** Opens a coordinator without data, whose leases follow the wall clock of a test. */
  protected abstract ConcurrencyCoordinator open(Coordination terms, ManualTime clock);

  /** Returns the number of calls of each fleet; less than 300 reach too little. */
  protected int steps() {
    return Boolean.getBoolean("throttlekit.thorough") ? 1_200 : 500;
  }

  static Stream<Coordination> terms() {
    return Stream.of(Aggregate.values())
        .flatMap(aggregate ->
            Stream.of(Allocation.values())
                .flatMap(allocation ->
                    Stream.of(true, false)
                        .map(each -> new Coordination(aggregate, allocation, each))));
  }

  @ParameterizedTest
  @MethodSource("terms")
  void everyAnswerIsThatOfTheRules(Coordination terms) throws Exception {
    try (ConcurrencyCoordinator coordinator = open(terms, clock)) {
      play(coordinator, terms, new RandomFleet("a", 1, 3, 12, clock));
      play(coordinator, terms, new RandomFleet("b", 2, 12, 6, clock));
      play(coordinator, terms, new RandomFleet("c", 3, 40, 500, clock));
      play(coordinator, terms, new RandomFleet("d", 4, 8, Heartbeat.MAX_REQUESTS, clock));
    }
    assertThat(reached(grant -> grant.status() == Status.EVICTED)).isGreaterThan(10);
    assertThat(reached(ShareGrant::sameId)).isGreaterThan(10);
    assertThat(reached(ShareGrant::frequent)).isGreaterThan(30);
    assertThat(reached(grant -> !grant.frequent() && grant.epoch() == 0)).isGreaterThan(30);
    assertThat(reached(grant -> !grant.digests().isEmpty())).isGreaterThan(10);
    assertThat(reached(grant -> !grant.remnants().isEmpty())).isGreaterThan(100);
    assertThat(reached(grant -> grant.remnants().size() > 2)).isGreaterThan(10);
    assertThat(reached(grant -> grant.limit() < grant.nodes())).isGreaterThan(10);
    assertThat(reached(grant -> grant.epoch() > 5)).isPositive();
    assertThat(reached(grant -> grant.generation() > 5)).isPositive();
    assertThat(reached(grant -> grant.share() > Heartbeat.MAX_REQUESTS / 3)).isPositive();
  }

  private void play(ConcurrencyCoordinator coordinator, Coordination terms, RandomFleet fleet) {
    for (int step = 0; step < steps(); step++) {
      String as = "%s, %s, step %d".formatted(terms, fleet, step);
      switch (fleet.next()) {
        case RandomFleet.Beat(Heartbeat beat) ->
            fleet.answered(heartbeat(coordinator, terms, beat, as));
        case RandomFleet.Leaving(Departure departure) -> {
          coordinator.leave(departure).toCompletableFuture().join();
          expected.computeIfPresent(
              departure.key(), (_, state) -> state.leave(departure, clock.wallMillis()));
        }
        case RandomFleet.Released(ReleasedPermits released) -> {
          coordinator.released(released).toCompletableFuture().join();
          expected.computeIfPresent(
              released.key(), (_, state) -> state.released(released, clock.wallMillis()));
        }
      }
    }
  }

  private ShareGrant heartbeat(
      ConcurrencyCoordinator coordinator, Coordination terms, Heartbeat beat, String as) {
    ShareGrant grant = coordinator.heartbeat(beat).toCompletableFuture().join();
    FleetState.Outcome outcome =
        expected
            .getOrDefault(beat.key(), FleetState.EMPTY)
            .heartbeat(terms, beat, clock.wallMillis());
    expected.put(beat.key(), outcome.next());
    assertThat(grant).as(as).isEqualTo(outcome.grant());
    grants.add(grant);
    return grant;
  }

  private long reached(Predicate<ShareGrant> which) {
    return grants.stream().filter(which).count();
  }
}
