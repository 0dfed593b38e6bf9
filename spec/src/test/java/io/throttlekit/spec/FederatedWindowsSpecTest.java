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
 * The federation keeps its limit, and would not without any one of its safeguards. The counts and
 * the lengths of the ways beyond the limit pin the model: one that has lost a step still keeps the
 * limit.
 */
@Tag("tlc")
class FederatedWindowsSpecTest {
  private static final Configuration WHOLE = Configuration.of("FederatedWindows");
  private static final Configuration PLAIN =
      WHOLE.with("Surplus", 0).with("Returns", "FALSE").with("Limit", 1);
  private static final Configuration THIS_WINDOW = WHOLE.with("Kinds", "{\"this\"}");
  private static final Configuration RETURNS = THIS_WINDOW.with("Surplus", 0);
  private static final Configuration ESCROW = THIS_WINDOW.with("Returns", "FALSE");
  private static final Configuration TICKS_IN_WINDOWS = PLAIN.with("Length", 2);
  private static final Configuration LONG_WINDOWS = PLAIN.with("Length", 3);
  private static final Configuration MANY_WINDOWS = PLAIN.with("Windows", 4);
  private static final Configuration CLOCKS = PLAIN.with("Windows", 3);

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @Test
  void keepsTheLimitWithEveryOperationOfARegion() throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE, 55_251);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitWhileAWindowMayBeOver() throws IOException, InterruptedException {
    tlc.assertHolds(LONG_WINDOWS, 18_855);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitWithAnswersThatTakeLongerThanWindows()
      throws IOException, InterruptedException {
    tlc.assertHolds(MANY_WINDOWS, 8_645);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitWithADelayedEscrow() throws IOException, InterruptedException {
    tlc.assertHolds(THIS_WINDOW.with("Length", 2).with("Limit", 1), 3_394);
    tlc.assertHolds(ESCROW.with("Length", 2), 7_688);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitWithReturnsAndADelayedEscrow() throws IOException, InterruptedException {
    tlc.assertHolds(THIS_WINDOW.with("Length", 2), 72_604);
  }

  @Test
  @Tag("thorough")
  void keepsTheLimitWithTwoProcessesThatShareAnEscrow() throws IOException, InterruptedException {
    tlc.assertHolds(ESCROW.with("Processes", "{p1, p2}"), 18_063);
  }

  @Test
  void keepsTheLimitWithTwoRegions() throws IOException, InterruptedException {
    tlc.assertHolds(PLAIN.with("Regions", "{r1, r2}"), 9_010);
  }

  @Test
  void keepsEveryBudgetWhenTheCoordinatorsClockStepsBack()
      throws IOException, InterruptedException {
    tlc.assertHolds(CLOCKS.with("MaxBack", 2), 17_194);
  }

  @ParameterizedTest(name = "without \"{0}\", in {1} states")
  @CsvSource({
    "grant what is left, 9",
    "credit once, 6",
    "answer once, 7",
    "forfeit leftover, 11",
    "new unit, 11",
    "lasts since asking, 11",
    "over since answer, 10",
    "row per window, 10",
    "rows outlive restart, 10",
  })
  void exceedsTheLimitWithoutASafeguard(String safeguard, int states)
      throws IOException, InterruptedException {
    assertRefuted(TICKS_IN_WINDOWS, safeguard, states);
  }

  @Test
  void aRowHoldsMoreThanTheLimitIfMoreIsGrantedThanIsLeft()
      throws IOException, InterruptedException {
    Configuration generous = without("grant what is left", WHOLE);
    tlc.assertRefuted(generous.invariants("RowLimit"), "RowLimit", 4);
  }

  @Test
  void exceedsTheLimitWhenOnlyTheNewWindowsUnitIsSpent() throws IOException, InterruptedException {
    assertRefuted(LONG_WINDOWS, "old unit", 11);
  }

  @Test
  void exceedsTheLimitWhenAnotherWindowsGrantIsSpent() throws IOException, InterruptedException {
    assertRefuted(RETURNS.with("Returns", "FALSE"), "credit to own window", 17);
  }

  @ParameterizedTest(name = "without \"{0}\", in {1} states")
  @CsvSource({"return to own window, 19", "return once, 19"})
  void exceedsTheLimitWhenMoreIsReturnedThanLeased(String safeguard, int states)
      throws IOException, InterruptedException {
    assertRefuted(RETURNS, safeguard, states);
  }

  @ParameterizedTest(name = "without \"{0}\", in {1} states")
  @CsvSource({"refill once, 15", "refill tells bounds, 16", "refill or keep, 12"})
  void exceedsTheLimitWhenAnEscrowHasMoreThanWasGranted(String safeguard, int states)
      throws IOException, InterruptedException {
    assertRefuted(ESCROW.with("Length", 2), safeguard, states);
  }

  @Test
  void exceedsTheLimitWhenAnOldRequestRollsTheRowsBack() throws IOException, InterruptedException {
    assertRefuted(CLOCKS, "clock after lock\", \"only forward", 20);
  }

  @Test
  void exceedsABudgetWhenWindowsFollowAClockThatStepsBack()
      throws IOException, InterruptedException {
    assertRefuted(CLOCKS.with("MaxBack", 1), "only forward", 12);
  }

  /** Each of the two makes up for the other, as long as the clock does not step back. */
  @Test
  void keepsTheLimitWithOneOfTheSafeguardsAgainstOldRequests()
      throws IOException, InterruptedException {
    tlc.assertHolds(without("clock after lock", CLOCKS), 4_941);
    tlc.assertHolds(without("only forward", CLOCKS), 2_136);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "NeverTheWholeLimit, 10",
    "NeverForfeited, 6",
    "NeverReady, 8",
    "NeverInPart, 4",
    "NeverGiven, 7",
    "NeverTakenBack, 6",
    "NeverLate, 9",
  })
  @Tag("thorough")
  void reachesTheInterestingSteps(String never, int states)
      throws IOException, InterruptedException {
    assertReached(WHOLE, never, states);
  }

  @Test
  @Tag("thorough")
  void reachesSpendingOfBothWindows() throws IOException, InterruptedException {
    assertReached(LONG_WINDOWS, "NeverOfBoth", 10);
  }

  @Test
  @Tag("thorough")
  void reachesAnAnswerThatTookLongerThanAWindow() throws IOException, InterruptedException {
    assertReached(MANY_WINDOWS, "NeverSlow", 6);
  }

  private static Configuration without(String safeguards, Configuration configuration) {
    return configuration.with("Removed", "{\"" + safeguards + "\"}");
  }

  private void assertRefuted(Configuration configuration, String safeguards, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        without(safeguards, configuration).invariants("WindowLimit"), "WindowLimit", states);
  }

  private void assertReached(Configuration configuration, String never, int states)
      throws IOException, InterruptedException {
    boolean ofStates = never.equals("NeverTheWholeLimit") || never.equals("NeverForfeited");
    Configuration asked =
        ofStates ? configuration.invariants(never) : configuration.property(never);
    tlc.assertRefuted(asked, never, states);
  }
}
