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
 * A lease that is resent until it is answered is credited once, however late, and would be lost or
 * credited twice without any one of its safeguards. The counts and the lengths of the ways to a
 * violation pin the model.
 */
@Tag("tlc")
class NumberedCallsSpecTest {
  private static final Configuration WHOLE = Configuration.of("NumberedCalls");
  private static final Configuration SCARCE = WHOLE.with("Limit", 1);
  private static final String STORE_REMOVED =
      "{\"same answer\", \"refuse overtaken\", \"until the end\"}";

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0}, {1} calls, {2} in flight, {3} windows of {4} ticks")
  @CsvSource({
    "'{p1}', 2, 2, 2, 1, 5244",
    "'{p1}', 1, 2, 2, 2, 5458",
    "'{p1}', 1, 2, 3, 1, 3920",
    "'{p1}', 2, 3, 1, 3, 11602",
    "'{p1, p2}', 1, 2, 1, 2, 9667",
  })
  void everyGrantCountsOnce(
      String processes, int calls, int inFlight, int windows, int length, long distinct)
      throws IOException, InterruptedException {
    Configuration configuration =
        WHOLE
            .with("Processes", processes)
            .with("Calls", calls)
            .with("MaxInFlight", inFlight)
            .with("Windows", windows)
            .with("Length", length);
    tlc.assertHolds(configuration, distinct);
  }

  @Test
  @Tag("thorough")
  void everyGrantCountsOnceInLargerConfigurations() throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE, 66_938);
    tlc.assertHolds(WHOLE.with("Windows", 3).with("Length", 1), 86_148);
  }

  /** In the other configurations all calls together ask for no more than the limit. */
  @Test
  void aStoreGrantsNoMoreThanItsLimit() throws IOException, InterruptedException {
    tlc.assertHolds(SCARCE.with("Length", 1), 3_462);
  }

  @ParameterizedTest(name = "{0}, in {1} states")
  @CsvSource({"StoreLimit, 6", "WindowLimit, 9"})
  void aStoreThatGrantsMoreThanIsLeftExceedsTheLimit(String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(SCARCE.without("grant what is left").invariants(violated), violated, states);
  }

  /** As in releases that keep no records of calls: only utilization is lost. */
  @Test
  void keepsTheLimitWithAStoreWithoutCallNumbers() throws IOException, InterruptedException {
    Configuration store = WHOLE.with("Removed", STORE_REMOVED).with("Windows", 1);
    tlc.assertHolds(store.invariants("WindowLimit StoreLimit CreditedOnce"), 5_218);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "same answer, NothingLost, 5",
    "refuse overtaken, NothingLost, 8",
    "until the end, NothingLost, 4",
    "keep the number, NothingLost, 4",
    "count late answers, NothingLost, 5",
    "credit once, CreditedOnce, 7",
    "credit once, WindowLimit, 13",
    "lasts since asking, WindowLimit, 15",
  })
  void failsWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(
        WHOLE.with("Removed", "{\"" + safeguard + "\"}").invariants(violated), violated, states);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverTheWholeLimit, 9", "NeverOfTwoWindows, 9", "NeverAbandoned, 5"})
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.invariants(never), never, states);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverLate, 5", "NeverAgain, 5", "NeverOvertaken, 8", "NeverACopy, 7"})
  @Tag("thorough")
  void reachesTheInterestingSteps(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.property(never), never, states);
  }
}
