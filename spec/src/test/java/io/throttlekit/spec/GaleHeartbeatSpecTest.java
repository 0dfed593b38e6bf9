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

/**
 * TLC counts in the two published modules of a limit that is divided by heartbeats what others have
 * counted, and refutes what they have refuted.
 */
@Tag("tlc")
class GaleHeartbeatSpecTest {
  private static final Configuration AT_ONCE = Configuration.of("GaleHeartbeatLeasing");
  private static final Configuration WHOLE = Configuration.of("GaleHeartbeatHandoff");
  private static final Configuration HANDOFF = WHOLE.with("MaxGrants", 2);
  private static final Configuration TRIMMED = HANDOFF.with("Trimmed", "TRUE");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "target {0}, {1} nodes, limit {2}")
  @CsvSource({
    "rounded up, 2, 4, 76, 379, 12",
    "rounded up, 3, 2, 103, 643, 7",
    "rounded up, 3, 6, 1432, 11524, 19",
  })
  void sharesAndRequestsStayWithinTheLimit(
      String target, int nodes, int limit, long distinct, long generated, int depth)
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(sized(target, nodes, limit));
    assertThat(verdict).isEqualTo(new Verdict(distinct, generated, depth, null, verdict.output()));
  }

  @ParameterizedTest(name = "target {0}, 3 nodes, limit 4")
  @CsvSource({"by demand, 635", "exact, 459"})
  void anyTargetKeepsTheLimit(String target, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(sized(target, 3, 4), distinct);
  }

  @ParameterizedTest(name = "target {0}, {1} nodes, limit {2}")
  @CsvSource({
    "rounded up, 2, 6, 149",
    "rounded up, 3, 4, 361",
    "by demand, 2, 4, 112",
    "by demand, 2, 6, 292",
    "by demand, 3, 2, 103",
    "by demand, 3, 6, 2547",
    "exact, 2, 4, 76",
    "exact, 2, 6, 149",
    "exact, 3, 2, 119",
    "exact, 3, 6, 1432",
  })
  @Tag("thorough")
  void anyTargetKeepsTheLimitInMoreSizes(String target, int nodes, int limit, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(sized(target, nodes, limit), distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "in flight counts, InflightCap, 10",
    "reserve for the others, GlobalCap, 4",
  })
  void exceedsTheLimitWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(AT_ONCE.without(safeguard).invariants(violated), violated, states);
  }

  @ParameterizedTest(name = "without \"{0}\"")
  @CsvSource({"in flight counts, 64", "reserve for the others, 94"})
  @Tag("thorough")
  void countsTheStatesWithoutASafeguard(String safeguard, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(AT_ONCE.without(safeguard).invariants("TypeOK"), distinct);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"GlobalCapTight, 2", "InflightCapTight, 6"})
  void reachesTheLimit(String tight, int states) throws IOException, InterruptedException {
    tlc.assertRefuted(AT_ONCE.invariants(tight), tight, states);
  }

  @Test
  @Tag("thorough")
  void aNodeWaitsForWhatOthersStillUse() throws IOException, InterruptedException {
    tlc.assertRefuted(AT_ONCE.property("NeverHeldBack"), "NeverHeldBack", 8);
  }

  @Test
  void lateGrantsAndReportsKeepTheLimit() throws IOException, InterruptedException {
    Verdict verdict = tlc.check(HANDOFF);
    assertThat(verdict).isEqualTo(new Verdict(20_914, 132_229, 29, null, verdict.output()));
  }

  @Test
  void anyNumberOfAcknowledgedGrantsKeepsTheLimit() throws IOException, InterruptedException {
    Verdict verdict = tlc.check(TRIMMED);
    assertThat(verdict).isEqualTo(new Verdict(12_387, 81_413, 26, null, verdict.output()));
  }

  @Test
  @Tag("thorough")
  void lateGrantsAndReportsKeepTheLimitInThePublishedSizes()
      throws IOException, InterruptedException {
    Verdict verdict = tlc.check(WHOLE);
    assertThat(verdict).isEqualTo(new Verdict(250_624, 1_785_951, 37, null, verdict.output()));
    tlc.assertHolds(TRIMMED.with("Limit", 6), 38_223);
    tlc.assertHolds(WHOLE.with("MaxGrants", 1), 624);
    tlc.assertHolds(WHOLE.with("Limit", 2), 44_252);
    tlc.assertHolds(WHOLE.with("Limit", 3), 131_419);
    tlc.assertHolds(HANDOFF.with("Limit", 6), 72_037);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource(
      delimiter = ';',
      value = {
        "reserve the largest; 12",
        "reserve the largest, reserve the applied; 12",
        "in flight counts; 14",
      })
  void exceedsTheLimitIfLessIsReserved(String safeguards, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(TRIMMED.without(safeguards), "InflightCap", states);
  }

  @Test
  void exceedsTheLimitIfAReportIsNotOneSnapshot() throws IOException, InterruptedException {
    tlc.assertRefuted(HANDOFF.without("one snapshot"), "InflightCap", 14);
  }

  @Test
  @Tag("thorough")
  void countsTheStatesOfLateHeartbeatsWithoutASafeguard() throws IOException, InterruptedException {
    Configuration late = TRIMMED.invariants("TypeOK");
    tlc.assertHolds(late.without("reserve the largest"), 36_415);
    tlc.assertHolds(late.without("in flight counts"), 10_397);
    tlc.assertHolds(HANDOFF.without("one snapshot").invariants("GlobalCap"), 58_534);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"GlobalCapTight, 2", "InflightCapTight, 7"})
  @Tag("thorough")
  void reachesTheLimitWithLateHeartbeats(String tight, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(HANDOFF.invariants(tight), tight, states);
  }

  private static Configuration sized(String target, int nodes, int limit) {
    return AT_ONCE
        .with("Nodes", Configuration.nodes(nodes))
        .with("Limit", limit)
        .with("Target", "\"" + target + "\"");
  }
}
