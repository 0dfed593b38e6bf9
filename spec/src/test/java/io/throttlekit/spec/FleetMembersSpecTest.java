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
 * Processes that are killed, evicted, start again or leave keep one limit together, and would not
 * without any one of their safeguards. The counts and the lengths of the ways to a violation pin
 * the model.
 */
@Tag("tlc")
class FleetMembersSpecTest {
  private static final Configuration WHOLE = Configuration.of("FleetMembers");
  private static final Configuration ONE_INCARNATION = WHOLE.with("Incarnations", "{i1}");
  private static final Configuration THREE_INCARNATIONS =
      WHOLE.with("Incarnations", "{i1, i2, i3}");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @Test
  void twoIncarnationsKeepTheLimit() throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE.with("MaxBeats", 3), 19_857);
  }

  @Test
  void threeIncarnationsKeepTheLimit() throws IOException, InterruptedException {
    tlc.assertHolds(THREE_INCARNATIONS.with("MaxBeats", 2), 7_013);
  }

  @Test
  void oneIncarnationIsCoveredThroughAllItsGrants() throws IOException, InterruptedException {
    tlc.assertHolds(ONE_INCARNATION, 15_765);
  }

  @Test
  void reservationsAreWithinTheLimitIfNoRequestsAreBroughtAlong()
      throws IOException, InterruptedException {
    Configuration waiting = WHOLE.with("Brings", "FALSE").with("MaxBeats", 3);
    tlc.assertHolds(waiting.invariants("Covered ReservedLimit"), 15_880);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitInLargerConfigurations() throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE, 165_916);
    tlc.assertHolds(WHOLE.with("MaxBeats", 2).with("Limit", 2), 7_967);
    tlc.assertHolds(WHOLE.with("MaxBeats", 3).with("Limit", 2), 115_062);
    tlc.assertHolds(THREE_INCARNATIONS.with("MaxBeats", 3), 79_935);
  }

  @ParameterizedTest(name = "{0}, in {1} states")
  @CsvSource({"GrantLimit, 7", "InFlightLimit, 11"})
  void moreThanTheLimitIsGrantedIfSharesRiseIntoWhatIsReserved(String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without("grant what is free").invariants(violated), violated, states);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource({
    "own incarnation, 8",
    "latest heartbeat only, 11",
    "acknowledge the latest only, 9",
    "in flight counts, 8",
    "tombstone, 8",
    "stop before leaving, 7",
    "fence before the lease ends, 6",
    "measure from sending, 6",
    "newer grants only, 10",
    "remnant, 8",
    "time to live, 9",
    "releases of the dead only, 11",
  })
  void moreIsAppliedThanReservedWithoutASafeguard(String safeguard, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(ONE_INCARNATION.without(safeguard).invariants("Covered"), "Covered", states);
  }

  /** It takes two requests: one that goes on, and one whose release is counted twice. */
  @Test
  void moreIsAppliedThanReservedIfAReleaseElsewhereIsCountedTwice()
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        ONE_INCARNATION.with("Limit", 2).without("each release once").invariants("Covered"),
        "Covered",
        12);
  }

  @Test
  void moreIsAppliedThanReservedIfAnswersToAnotherIncarnationCount()
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without("answers to itself only").invariants("Covered"), "Covered", 7);
  }

  /** It takes five heartbeats: two in its first life, one that joins again, and two grants. */
  @Test
  @Tag("thorough")
  void moreIsAppliedThanReservedIfAnIncarnationIsUsedAfterItsLease()
      throws IOException, InterruptedException {
    Configuration five = ONE_INCARNATION.with("Processes", "{p1}").with("MaxBeats", 5);
    tlc.assertRefuted(
        five.without("new incarnation after a fence").invariants("Covered"), "Covered", 18);
    tlc.assertHolds(five, 114_546);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource({
    "own incarnation, 9",
    "acknowledge the latest only, 15",
    "in flight counts, 13",
    "tombstone, 13",
    "stop before leaving, 13",
    "fence before the lease ends, 13",
    "measure from sending, 13",
    "newer grants only, 16",
    "answers to itself only, 14",
    "remnant, 13",
    "time to live, 14",
    "releases of the dead only, 16",
  })
  @Tag("thorough")
  void moreThanTheLimitIsInFlightWithoutASafeguard(String safeguard, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        WHOLE.without(safeguard).invariants("InFlightLimit"), "InFlightLimit", states);
  }

  /** Only a share that no process applies is then reserved once more. */
  @Test
  @Tag("thorough")
  void keepsTheLimitEvenIfAnyHeartbeatJoins() throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE.without("first heartbeat joins").with("MaxBeats", 3), 20_380);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "NeverTheWholeLimit, 6",
    "NeverATombstone, 6",
    "NeverHeldBack, 6",
    "NeverAboveShare, 5",
    "NeverBrought, 8",
    "NeverReservedTwice, 10",
  })
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.invariants(never), never, states);
  }

  @Test
  @Tag("thorough")
  void aLateHeartbeatOfAnEndedIncarnationJoins() throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.property("NeverAGhost"), "NeverAGhost", 5);
  }

  @Test
  @Tag("thorough")
  void aReleaseElsewhereIsCounted() throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.property("NeverCountedElsewhere"), "NeverCountedElsewhere", 10);
  }
}
