package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.redis.RedisListener.Failure;
import io.throttlekit.service.telemetry.StoreMetrics;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreStateTest {
  private final List<Boolean> reachable = new ArrayList<>();
  private final StoreState state =
      new StoreState(
          "redis://a", new StoreMetrics(OpenTelemetry.noop().getMeter("test")), reachable::add);

  @Test
  void saysWhatTheStoreDoes() {
    assertThat(state.inWords()).isEqualTo("redis://a has not answered yet");
    state.roundTrip(1, 1_000);
    assertThat(state.inWords()).isEqualTo("redis://a answers");
    state.dataLost(0);
    assertThat(state.inWords())
        .isEqualTo("redis://a answers, lost its data 1×, last at 1970-01-01T00:00:00Z");
  }

  @Test
  void onlyAnAnswerThatIsLateIsSaidToBeAMatterOfPatience() {
    state.failed(1, Failure.CONNECTION, "connection refused");
    state.down();
    assertThat(state.inWords()).isEqualTo("redis://a does not answer: connection refused");
  }

  @Test
  void anAnswerThatCameTooLateIsNoSignThatTheStoreCanBeUsed() {
    state.roundTrip(1, 1_000);
    state.failed(1, Failure.DEADLINE, "no answer in time");
    state.down();
    state.roundTrip(1, 1_000_000_000);
    assertThat(state.inWords())
        .isEqualTo(
            "redis://a does not answer: no answer in time; if it is only slow, raise store.deadline"
                + " (THROTTLEKIT_STORE_DEADLINE)");
    state.up();
    assertThat(state.inWords()).isEqualTo("redis://a answers");
    assertThat(reachable).containsExactly(false, true, false, true);
  }
}
