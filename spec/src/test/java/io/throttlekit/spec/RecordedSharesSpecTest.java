package io.throttlekit.spec;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Envoys whose streams land on any replica apply at most one limit in sum, but would exceed it
 * without any one of the safeguards, or after an excluded fault. The counts pin the model.
 */
@Tag("tlc")
class RecordedSharesSpecTest {
  private static final Configuration WHOLE = Configuration.of("RecordedShares");
  private static final Configuration SHORT = WHOLE.with("MaxNumber", 1);
  private static final Configuration ONE_TERM = WHOLE.with("MaxTerms", 1);

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @Test
  void sharesStayWithinTheLimitOnAnyReplica() throws IOException, InterruptedException {
    tlc.assertHolds(SHORT.andProperties("NeverRises Forward"), 16_141);
  }

  @ParameterizedTest(name = "{0}, limits {1}, {2} records, {3} terms")
  @CsvSource({
    "'{e1, e2}', {1}, 2, 2, 223723",
    "'{e1, e2}', '{0, 1, 2}', 1, 1, 72644",
    "'{e1, e2, e3}', {1}, 1, 1, 25120",
  })
  @Tag("thorough")
  void sharesStayWithinTheLimitInLongerHistories(
      String envoys, String limits, int records, int terms, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(
        WHOLE
            .with("Envoys", envoys)
            .with("Limits", limits)
            .with("MaxNumber", records)
            .with("MaxTerms", terms)
            .andProperties("NeverRises Forward"),
        distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource({
    "record before push, 8",
    "reserve the largest, 4",
    "the last grant counts, 5",
  })
  void anEnvoyAppliesMoreThanIsReserved(String safeguard, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without(safeguard).invariants("Covered"), "Covered", states);
  }

  @Test
  void moreThanTheLimitIsReservedIfSharesRiseWithoutRoom()
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without("raise into room").property("NeverRises"), "NeverRises", 4);
  }

  @ParameterizedTest(name = "without \"{0}\", {1} on their way: in {2} states")
  @CsvSource({
    "fresh before push, 1, 9",
    "since the visit, 1, 11",
    "newer records only, 2, 10",
  })
  void anEnvoyGoesBackToAnEarlierRecord(String safeguard, int way, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        SHORT.with("MaxTerms", 1).with("MaxWay", way).without(safeguard).property("Forward"),
        "Forward",
        states);
  }

  @ParameterizedTest(name = "without \"{0}\", {1} on their way: in {2} states")
  @CsvSource({
    "fresh before push, 1, 11",
    "current epoch only, 1, 12",
    "in order, 2, 12",
    "start from the record, 1, 12",
  })
  @Tag("thorough")
  void anEnvoyAppliesMoreThanIsReservedAfterLongerHistories(String safeguard, int way, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        WHOLE.with("MaxWay", way).without(safeguard).invariants("Covered"), "Covered", states);
  }

  @Test
  void exceedsTheLimitIfAHoldEndsBeforeItsEnvoy() throws IOException, InterruptedException {
    tlc.assertRefuted(
        SHORT.with("MaxTerms", 1).with("Faults", "{\"hold ends\"}").invariants("WithinLimit"),
        "WithinLimit",
        7);
  }

  @Test
  @Tag("thorough")
  void exceedsTheLimitIfTheRecordIsLost() throws IOException, InterruptedException {
    tlc.assertRefuted(
        WHOLE.with("MaxTerms", 3).with("Faults", "{\"record lost\"}").invariants("WithinLimit"),
        "WithinLimit",
        12);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverBehind, 8", "NeverHeldBack, 4", "NeverMoved, 8"})
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(ONE_TERM.invariants(never), never, states);
  }

  @Test
  @Tag("thorough")
  void replacesAReplicaWhoseRecordIsOnItsWay() throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.property("NeverRefused"), "NeverRefused", 4);
  }
}
