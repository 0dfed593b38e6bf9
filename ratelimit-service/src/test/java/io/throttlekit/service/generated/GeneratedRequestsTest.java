package io.throttlekit.service.generated;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.CompatibilityConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bytes in, bytes out: what the service answers is what the reference answers, so nothing is
 * admitted that the reference denies. 63,000 requests and 42,000 damaged ones; ten times as many in
 * the profile {@code thorough}.
 */
@Tag("exploration")
@Tag("slow")
class GeneratedRequestsTest {
  private static final int SERVICES = Boolean.getBoolean("throttlekit.thorough") ? 120 : 12;
  private static final int RELOADS = 3;
  private static final int REQUESTS = 220;
  private static final int DAMAGED_REQUESTS = 146;

  private final Map<String, Integer> reached = new TreeMap<>();

  /** Every combination of the three modes, each with a seed of its own. */
  static List<Arguments> modes() {
    List<Arguments> modes = new ArrayList<>();
    for (int bits = 0; bits < 8; bits++) {
      boolean chargeRejected = (bits & 1) != 0;
      boolean shadow = (bits & 2) != 0;
      boolean quota = (bits & 4) != 0;
      modes.add(
          Arguments.of(new CompatibilityConfig(chargeRejected, shadow, quota), 20_261_121L + bits));
    }
    return modes;
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("modes")
  void everyAnswerEqualsTheReferences(CompatibilityConfig mode, long seed) {
    RandomGenerator random = random(seed);
    for (int service = 0; service < SERVICES; service++) {
      SideBySide both = new SideBySide(mode, random, seed);
      for (int reload = 0; reload < RELOADS; reload++) {
        RandomRequests requests = both.reload();
        for (int i = 0; i < REQUESTS; i++) {
          both.advanceTime();
          both.agreesOn(requests.next().toByteArray());
        }
      }
      both.reference.reached.forEach((branch, times) -> reached.merge(branch, times, Integer::sum));
    }
    assertThat(reached).containsKeys(branches(mode));
    assertThat(reached)
        .allSatisfy((branch, times) -> {
          if (!branch.equals(
              "admitted, in a refused request")) { // none but refunds under quota mode
            assertThat(times).as(branch).isGreaterThan(50);
          }
        });
  }

  @ParameterizedTest(name = "{0}, seed {1}")
  @MethodSource("modes")
  void damagedBytesAreAnsweredOrRejectedWithoutCharge(CompatibilityConfig mode, long seed) {
    RandomGenerator random = random(seed);
    Damage damage = new Damage(random);
    for (int service = 0; service < SERVICES; service++) {
      SideBySide both = new SideBySide(mode, random, seed);
      for (int reload = 0; reload < RELOADS; reload++) {
        RandomRequests requests = both.reload();
        for (int i = 0; i < DAMAGED_REQUESTS; i++) {
          both.advanceTime();
          byte[] whole = requests.next().toByteArray();
          boolean answered = both.agreesOn(damage.to(whole));
          reached.merge(answered ? "answered" : "refused", 1, Integer::sum);
          if (i % 4 == 0) {
            both.agreesOn(whole); // earlier refused requests have left no trace
          }
        }
      }
    }
    assertThat(reached.get("answered")).isGreaterThan(500);
    assertThat(reached.get("refused")).isGreaterThan(500);
  }

  private static String[] branches(CompatibilityConfig mode) {
    return new String[] {
      "admitted",
      mode.shadowMode() ? "let pass by the global shadow mode" : "refused",
      "refused, in shadow mode",
      "quota refused, request admitted",
      mode.quotaMode() ? "refund" : "admitted, in a refused request",
      "refund",
      "look",
      "override",
      "unlimited",
      "unmatched",
      "unknown domain",
      "replaced",
      "shared counter",
      "tenant",
      "tenant refused",
      "tenant refunded",
      "part of a limit",
      "several limits",
      "several limits, refused",
      "invalid",
      "fixed_window",
      "sliding_window",
      "sliding_log",
      "gcra",
      "token_bucket"
    };
  }

  private static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }
}
