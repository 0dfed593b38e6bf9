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
 * A region spends no unit twice after its store restores any data, but would without either of the
 * two safeguards. The counts pin the model.
 */
@Tag("tlc")
class EscrowHistoriesSpecTest {
  private static final Configuration TWO = Configuration.of("EscrowHistories");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0}, {1} units, {2} histories")
  @CsvSource({"'{s1, s2}', 2, 4, 6001", "'{s1, s2, s3}', 2, 2, 7345"})
  void noUnitIsSpentTwice(String servers, int units, int histories, long distinct)
      throws IOException, InterruptedException {
    Verdict verdict =
        tlc.check(TWO.with("Servers", servers).with("Units", units).with("Histories", histories));
    assertThat(verdict.violated()).as(verdict.output()).isNull();
    assertThat(verdict.distinct()).isEqualTo(distinct);
  }

  @Test
  @Tag("thorough")
  void noUnitIsSpentTwiceWithThreeHistoriesOnThreeServers()
      throws IOException, InterruptedException {
    Configuration three = TWO.with("Servers", "{s1, s2, s3}").with("Histories", 3);
    tlc.assertHolds(three, 46_243);
  }

  @ParameterizedTest(name = "without \"{0}\", in {1} states")
  @CsvSource({"own history, 7", "another history, 9"})
  void aUnitIsSpentTwiceWithoutASafeguard(String safeguard, int states)
      throws IOException, InterruptedException {
    Configuration without = TWO.with("Removed", "{\"" + safeguard + "\"}").invariants("SpentOnce");
    Verdict verdict = tlc.check(without);
    assertThat(verdict.violated()).isEqualTo("SpentOnce");
    assertThat(verdict.statesToViolation()).as(verdict.output()).isEqualTo(states);
  }

  @ParameterizedTest
  @ValueSource(strings = {"NeverAllSpent", "NeverLost"})
  @Tag("thorough")
  void reachesTheInterestingSteps(String never) throws IOException, InterruptedException {
    assertThat(tlc.check(TWO.invariants(never)).violated()).isEqualTo(never);
  }
}
