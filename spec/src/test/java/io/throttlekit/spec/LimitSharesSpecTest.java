package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Applied shares of one limit are reserved and never rise beyond it, but would without any one of
 * the safeguards. The counts pin the model.
 */
@Tag("tlc")
class LimitSharesSpecTest {
  private static final Configuration THREE = Configuration.of("LimitShares");
  private static final Configuration TWO =
      THREE.with("Envoys", "{e1, e2}").with("MaxLimit", 2).with("MaxWay", 2);

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0}, limit up to {1}, {2} in flight")
  @CsvSource({
    "'{e1, e2}', 2, 1, 4623",
    "'{e1, e2}', 2, 2, 9813",
    "'{e1, e2, e3}', 1, 1, 11900",
  })
  void appliedSharesAreReserved(String envoys, int limit, int way, long distinct)
      throws IOException, InterruptedException {
    Verdict verdict =
        tlc.check(THREE.with("Envoys", envoys).with("MaxLimit", limit).with("MaxWay", way));
    assertThat(verdict.violated()).as(verdict.output()).isNull();
    assertThat(verdict.distinct()).isEqualTo(distinct);
  }

  @Test
  @Tag("thorough")
  void appliedSharesOfThreeEnvoysAreReserved() throws IOException, InterruptedException {
    tlc.assertHolds(THREE, 53_130);
  }

  @ParameterizedTest(name = "{0} in flight")
  @ValueSource(ints = {1, 2})
  void reservedSharesNeverRiseBeyondTheLimit(int way) throws IOException, InterruptedException {
    Verdict verdict = tlc.check(TWO.with("MaxWay", way).property("NeverRises"));
    assertThat(verdict.violated()).as(verdict.output()).isNull();
  }

  @ParameterizedTest(name = "without \"{0}\"")
  @ValueSource(
      strings = {
        "reserve the largest",
        "the last grant counts",
        "reserve for the absent",
        "a part for each stream"
      })
  void withoutASafeguardMoreIsAppliedThanReserved(String safeguard)
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(without(safeguard).invariants("Covered"));
    assertThat(verdict.violated()).as(verdict.output()).isEqualTo("Covered");
  }

  @ParameterizedTest(name = "without \"{0}\", in {1} states")
  @CsvSource({
    "reserve the largest, 6",
    "the last grant counts, 7",
    "reserve for the absent, 7",
    "a part for each stream, 5"
  })
  void withoutASafeguardMoreThanTheLimitIsAppliedWhenAllHaveAcknowledged(
      String safeguard, int states) throws IOException, InterruptedException {
    tlc.assertRefuted(without(safeguard).invariants("Answered"), "Answered", states);
  }

  @Test
  void moreThanTheLimitIsReservedIfSharesRiseWithoutRoom()
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(without("raise into room").property("NeverRises"));
    assertThat(verdict.violated()).as(verdict.output()).isEqualTo("NeverRises");
  }

  @ParameterizedTest
  @ValueSource(strings = {"NeverAll", "NeverOver", "NeverLate", "NeverReserved"})
  @Tag("thorough")
  void reachesTheInterestingSteps(String never) throws IOException, InterruptedException {
    assertThat(tlc.check(TWO.invariants(never)).violated()).isEqualTo(never);
  }

  private static Configuration without(String safeguard) {
    return TWO.with("Removed", "{\"" + safeguard + "\"}");
  }
}
