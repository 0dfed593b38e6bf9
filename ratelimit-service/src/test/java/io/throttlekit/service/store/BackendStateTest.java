package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.ManualTime;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.store.StoreListener.Failure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BackendStateTest {
  private static final String NOT_YET =
      "redis://a has no connection yet: nothing has answered at this address";

  private final List<Boolean> reachable = new ArrayList<>();
  private final ManualTime time = new ManualTime(0);
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final BackendState state =
      new BackendState(
          BackendState.Role.STORE,
          "redis://a",
          new StoreTelemetry(
                  telemetry.meter(),
                  TracerProvider.noop().get("test"),
                  TracedValues.PLAIN,
                  new RedisPools())
              .backend("store"),
          reachable::add,
          time);

  @AfterEach
  void close() {
    telemetry.close();
  }

  @Test
  void describesTheStateOfTheStore() {
    assertThat(state.describe()).isEqualTo(NOT_YET);
    state.roundTrip(1, 1_000);
    assertThat(state.describe()).isEqualTo("redis://a answers");
    state.dataLost(0);
    assertThat(state.describe())
        .isEqualTo("redis://a answers, lost its data 1×, last at 1970-01-01T00:00:00Z");
  }

  @Test
  void onlyAStoreThatDoesNotAnswerIsDescribedAsUnanswering() {
    assertThat(state.describeUnanswering()).as("while it is being connected to").isEmpty();
    state.connected();
    assertThat(state.describeUnanswering()).isEqualTo("redis://a has not answered yet");
    state.roundTrip(1, 1_000);
    assertThat(state.describeUnanswering()).isEmpty();
    state.failed(1, Failure.CONNECTION, "connection refused");
    state.down();
    assertThat(state.describeUnanswering())
        .isEqualTo("redis://a does not answer: connection refused");
    state.up();
    assertThat(state.describeUnanswering()).isEmpty();
    state.notConnected("NOAUTH");
    assertThat(state.describeUnanswering()).as("logged already").isEmpty();
  }

  @Test
  void onlyALateAnswerSuggestsALongerDeadline() {
    state.connected();
    state.failed(1, Failure.CONNECTION, "connection refused");
    state.down();
    assertThat(state.describe()).isEqualTo("redis://a does not answer: connection refused");
  }

  @Test
  void anUnreachableStoreIsDownWithAReason() {
    state.notConnected("connection refused");
    assertThat(state.describe()).isEqualTo("redis://a cannot be connected to: connection refused");
    state.connected();
    state.roundTrip(1, 1_000);
    assertThat(state.describe()).isEqualTo("redis://a answers");
    state.notConnected("unknown host");
    assertThat(state.describe()).isEqualTo("redis://a cannot be connected to: unknown host");
    assertThat(reachable).containsExactly(false, false, true, false);
  }

  @Test
  void theFirstLineOfABackendThatCannotBeReachedHasTheReason() {
    try (Logged log = Logged.by(BackendState.class)) {
      for (int i = 0; i < 9; i++) {
        state.failed(1, Failure.CONNECTION, "not connected yet");
        state.failed(1, Failure.DEADLINE, "no answer in time");
      }
      assertThat(log.lines()).as("while it is being connected to").isEmpty();
      state.down();
      String opened =
          "INFO the store redis://a has no connection yet; on_outage of each rule decides until the"
              + " first attempt to connect has ended";
      assertThat(log.lines()).containsExactly(opened);
      assertThat(state.describe()).isEqualTo(NOT_YET);
      state.notConnected("connection refused");
      state.failed(1, Failure.DEADLINE, "no answer in time");
      state.failed(1, Failure.CONNECTION, "no connection");
      assertThat(log.lines())
          .containsExactly(
              opened,
              "WARNING no connection to the store redis://a; on_outage of each rule decides:"
                  + " connection refused");
      assertThat(state.describe()).isEqualTo("redis://a does not answer: connection refused");
      state.reachable();
      state.up();
      state.failed(1, Failure.DEADLINE, "no answer in time");
      assertThat(log.lines().getLast()).contains("did not answer 1 calls in time");
    }
  }

  @Test
  void aNewConnectionShowsThatTheStoreAnswersAgainWithoutARequest() {
    state.roundTrip(1, 1_000);
    state.notConnected("connection refused");
    state.connected();
    assertThat(state.describe()).isEqualTo("redis://a answers");
    assertThat(reachable).containsExactly(false, true, false, true);
    state.down();
    state.notConnected("connection refused");
    state.connected();
    assertThat(reachable).as("until a probe is answered").endsWith(false);
  }

  @Test
  void theReasonOfAMissingConnectionIsLoggedOnce() {
    try (Logged log = Logged.by(BackendState.class)) {
      for (int i = 0; i < 3; i++) {
        state.notConnected("refused");
      }
      state.connected();
      state.roundTrip(1, 1_000);
      state.roundTrip(1, 1_000);
      state.notConnected("refused");
      assertThat(log.lines())
          .containsExactly(
              "WARNING no connection to the store redis://a; on_outage of each rule decides:"
                  + " refused",
              "INFO the store redis://a answers",
              "WARNING no connection to the store redis://a; on_outage of each rule decides:"
                  + " refused");
    }
  }

  @Test
  void aDataLossClearsCachedRefusals() {
    List<String> forgotten = new ArrayList<>();
    state.whenDataIsLost(() -> forgotten.add("all"));
    state.dataLost(0);
    assertThat(forgotten).containsExactly("all");
  }

  @Test
  void aLateAnswerDoesNotMarkTheStoreAsUp() {
    state.roundTrip(1, 1_000);
    state.failed(1, Failure.DEADLINE, "no answer in time");
    state.down();
    state.roundTrip(1, 1_000_000_000);
    assertThat(state.describe())
        .isEqualTo(
            "redis://a does not answer: no answer in time; if it is only slow, raise"
                + " store.deadline");
    state.up();
    assertThat(state.describe()).isEqualTo("redis://a answers");
    assertThat(reachable).containsExactly(false, true, false, true);
  }

  @Test
  void lateRequestsAreLoggedWithTheirNumberAtMostEveryTenSeconds() {
    state.roundTrip(1, 1_000);
    try (Logged log = Logged.by(BackendState.class)) {
      for (int i = 0; i < 1_000; i++) {
        state.failed(2, Failure.DEADLINE, "no answer in time");
        time.advance(25);
      }
      assertThat(log.lines())
          .hasSize(3)
          .allMatch(line -> line.startsWith("WARNING the store redis://a did not answer "))
          .allMatch(line -> line.contains("throttlekit_store_round_trip_time_seconds"));
      assertThat(log.lines().get(0)).contains(" answer 2 calls in time");
      assertThat(log.lines().get(1)).contains(" answer 800 calls in time");
    }
  }

  @Test
  void countsEveryUnansweredRequest() throws IOException {
    state.failed(3, Failure.DEADLINE, "no answer in time");
    state.failed(2, Failure.OPEN, "not asked");
    assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body().lines())
        .contains(
            "throttlekit_store_failures_total{reason=\"timeout\"} 3.0",
            "throttlekit_store_failures_total{reason=\"breaker_open\"} 2.0");
  }
}
