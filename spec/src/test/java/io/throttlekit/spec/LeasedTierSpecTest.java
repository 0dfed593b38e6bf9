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
 * The leased tier keeps its bounds, and would not without any one of its safeguards. The counts pin
 * the model: one that has lost a step still keeps every bound.
 */
@Tag("tlc")
class LeasedTierSpecTest {
  private static final Configuration ONE_NODE = Configuration.of("LeasedTier");
  private static final Configuration TWO_NODES =
      ONE_NODE.with("Nodes", Configuration.nodes(2)).with("Costs", "{1}").with("Limit", 2);
  private static final Configuration SLOW_CLOCK =
      ONE_NODE.with("Length", 3).with("MaxWaiting", 1).with("Error", 1).with("Margin", 1);
  private static final Configuration CARRYING =
      ONE_NODE.with("Coupled", "FALSE").invariants("TypeOK StoreLimit CarryLimit");
  private static final Configuration THREE_WINDOWS =
      ONE_NODE.with("Windows", 3).with("MaxWaiting", 1);
  private static final Configuration REFUNDING =
      ONE_NODE.with("MaxRefunds", 1).invariants("TypeOK StoreLimit WindowLimit Covered");
  private static final Configuration CARRYING_OVER_THREE_WINDOWS =
      CARRYING.with("Windows", 3).with("MaxWaiting", 1);
  private static final Configuration CARRYING_OF_TWO =
      CARRYING
          .with("Nodes", Configuration.nodes(2))
          .with("Costs", "{1}")
          .with("Limit", 2)
          .with("MaxWaiting", 1);

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @Test
  void keepsTheLimitWithRequestsOfSeveralCosts() throws IOException, InterruptedException {
    tlc.assertHolds(ONE_NODE, 15_226);
  }

  @Test
  void keepsTheLimitWithTwoNodes() throws IOException, InterruptedException {
    tlc.assertHolds(TWO_NODES.with("Length", 1).with("MaxWaiting", 1), 5_651);
  }

  @Test
  void keepsTheLimitOverThreeWindows() throws IOException, InterruptedException {
    tlc.assertHolds(THREE_WINDOWS.with("Limit", 2), 9_450);
  }

  @Test
  void keepsTheLimitWithNodesThatMeasureTimeShort() throws IOException, InterruptedException {
    tlc.assertHolds(SLOW_CLOCK, 18_487);
  }

  @Test
  void keepsTheLimitWithRefunds() throws IOException, InterruptedException {
    tlc.assertHolds(REFUNDING.with("Limit", 2).with("MaxWaiting", 1), 11_734);
  }

  @Test
  void carriesAtMostABatchLessOnePerNode() throws IOException, InterruptedException {
    tlc.assertHolds(CARRYING_OF_TWO.with("Length", 1), 5_294);
  }

  @Test
  @Tag("thorough")
  void keepsTheBoundsInLargerConfigurations() throws IOException, InterruptedException {
    tlc.assertHolds(TWO_NODES, 71_304);
    tlc.assertHolds(THREE_WINDOWS, 31_677);
    tlc.assertHolds(REFUNDING, 65_698);
    tlc.assertHolds(CARRYING_OVER_THREE_WINDOWS, 39_370);
    tlc.assertHolds(CARRYING_OF_TWO, 30_579);
  }

  @ParameterizedTest(name = "without \"{0}\"")
  @ValueSource(
      strings = {
        "credit once",
        "check on landing",
        "check on spending",
        "measure from sending",
        "monotonic clock",
        "forfeit leftover",
        "return to own window",
        "return once",
      })
  void exceedsTheLimitWithoutASafeguard(String safeguard) throws IOException, InterruptedException {
    assertRefuted(without(safeguard, ONE_NODE).invariants("WindowLimit"), "WindowLimit");
  }

  @Test
  void exceedsTheLimitWithoutAMarginForTheMeasuringError()
      throws IOException, InterruptedException {
    assertRefuted(without("margin", SLOW_CLOCK).invariants("WindowLimit"), "WindowLimit");
  }

  @ParameterizedTest(name = "without \"{0}\"")
  @ValueSource(strings = {"carry less than a batch", "check on landing", "return to own window"})
  void carriesTooMuchWithoutASafeguard(String safeguard) throws IOException, InterruptedException {
    assertRefuted(without(safeguard, CARRYING).invariants("CarryLimit"), "CarryLimit");
  }

  @Test
  void carriesAFullBatchIfTheRequesterHasLeft() throws IOException, InterruptedException {
    Configuration onlyOnNeed =
        without("carry less than a batch", CARRYING)
            .with("Ahead", "FALSE")
            .with("Costs", "{1}")
            .with("Limit", 2);
    assertRefuted(onlyOnNeed, "CarryLimit");
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "grant what is left, StoreLimit, 4",
    "grant what is left, WindowLimit, 5",
    "credit once, Accounted, 5",
    "return once, Accounted, 6",
    "return to own window, Accounted, 8",
  })
  void losesCountOfUnitsWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(without(safeguard, ONE_NODE).invariants(violated), violated, states);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource({"credit once, 5", "return once, 6", "check on spending, 7"})
  void losesCountOfUnitsWithRefundsWithoutASafeguard(String safeguard, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(without(safeguard, REFUNDING).invariants("Covered"), "Covered", states);
  }

  /** A refund may lower the counter below the units of a return, so it reads high. */
  @Test
  void countsMoreThanThereIsWithRefunds() throws IOException, InterruptedException {
    tlc.assertRefuted(REFUNDING.invariants("Accounted"), "Accounted", 7);
  }

  @Test
  @Tag("thorough")
  void reachesItsBounds() throws IOException, InterruptedException {
    assertRefuted(ONE_NODE.invariants("NeverTheWholeLimit"), "NeverTheWholeLimit");
    assertRefuted(CARRYING.invariants("NeverAllCarried"), "NeverAllCarried");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "NeverInPart",
        "NeverARider",
        "NeverLate",
        "NeverTakenBack",
        "NeverReturnedLate",
        "NeverALeftover",
      })
  @Tag("thorough")
  void reachesTheInterestingSteps(String never) throws IOException, InterruptedException {
    assertRefuted(ONE_NODE.property(never), never);
  }

  private static Configuration without(String safeguard, Configuration configuration) {
    return configuration.with("Removed", "{\"" + safeguard + "\"}");
  }

  private void assertRefuted(Configuration configuration, String expected)
      throws IOException, InterruptedException {
    assertThat(tlc.check(configuration).violated()).isEqualTo(expected);
  }
}
