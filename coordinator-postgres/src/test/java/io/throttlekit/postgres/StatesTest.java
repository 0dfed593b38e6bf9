package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.StoreException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the binary format of counter states, which other releases have to read. */
class StatesTest {
  private final FixedWindow window = new FixedWindow(5, 60_000);

  @Test
  void theFormatIsStable() {
    byte[] bytes = States.encode(window, new FixedWindow.State(1_700_000_000_000L, 300));
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("0180a0abfef962d804");
    assertThat(HexFormat.of().formatHex(Names.of(StoreCalls.key(window, "a"))))
        .isEqualTo("cd69bf198b9f4962bebc10b8dc034adffb4d81b3e106a323d36d5c8ea18a7d34");
  }

  @Test
  void anyNumbersRoundTrip() {
    TokenBucket bucket = new TokenBucket(5, 60_000, 5);
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 10_000; i++) {
      TokenBucket.State state =
          new TokenBucket.State(
              random.nextLong() >> random.nextInt(64),
              random.nextLong() >> random.nextInt(64),
              random.nextLong() >> random.nextInt(64));
      assertThat(States.decode(bucket, States.encode(bucket, state))).as("seed 7").isEqualTo(state);
    }
  }

  @Test
  void aLogTakesFewBytesForEachCharge() {
    SlidingLog log = new SlidingLog(1_000, 60_000);
    SlidingLog.State state = charged(log, null, 1_700_000_000_000L);
    for (int i = 1; i < 1_000; i++) {
      state = charged(log, state, 1_700_000_000_000L + 50L * i);
    }
    assertThat(States.encode(log, state)).hasSizeLessThan(3_020);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "02",
        "00",
        "01",
        "0180",
        "010203",
        "01020304",
        "01ffffffffffffffffffffffff01"
      })
  void malformedBytesFailWithAMessage(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    if (hex.equals("010203")) {
      assertThat(States.decode(window, bytes)).isEqualTo(new FixedWindow.State(1, -2));
      return;
    }
    assertThatThrownBy(() -> States.decode(window, bytes))
        .isInstanceOf(StoreException.class)
        .hasMessageStartingWith("a counter ");
  }

  private static SlidingLog.State charged(
      SlidingLog log, SlidingLog.@Nullable State state, long now) {
    return Objects.requireNonNull(log.charge(state, now, 1, Overrun.REFUSE).state());
  }
}
