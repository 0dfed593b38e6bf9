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
 * A limit of a node that steered before is not accepted, and a node that has died is replaced;
 * without the safeguards neither would be so. The counts pin the model.
 */
@Tag("tlc")
class SteeringLeaseSpecTest {
  private static final Configuration WHOLE = Configuration.of("SteeringLease");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0} nodes, {1} terms, a lease of {2} ticks")
  @CsvSource({"3, 4, 2, 1922", "2, 4, 1, 220"})
  void oneNodeSteersAtATime(int nodes, int terms, int lease, long distinct)
      throws IOException, InterruptedException {
    Configuration sized =
        WHOLE
            .with("Nodes", Configuration.nodes(nodes))
            .with("MaxTerms", terms)
            .with("Lease", lease);
    tlc.assertHolds(sized.andProperties("Current Undisturbed"), distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "current epoch only, Current, 15",
    "new epoch, Current, 15",
    "while it lasts, Undisturbed, 3",
  })
  void failsWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without(safeguard).property(violated), violated, states);
  }

  @Test
  void aDeadNodeSteersForeverIfLeasesDoNotEnd() throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.without("lease ends").invariants("Replaced"), "Replaced", 9);
  }

  /** The epoch alone identifies its holder. */
  @Test
  void acceptsNoOutdatedLimitEvenIfOnlyTheEpochIsCompared()
      throws IOException, InterruptedException {
    tlc.assertHolds(WHOLE.without("holder only").andProperties("Current Undisturbed"), 692);
  }

  @Test
  @Tag("thorough")
  void acceptsAnOutdatedLimitSoonerIfNeitherIsCompared() throws IOException, InterruptedException {
    tlc.assertRefuted(
        WHOLE.without("current epoch only, holder only").property("Current"), "Current", 9);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverAgain, 14", "NeverADeadHolder, 3"})
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.invariants(never), never, states);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverOutdated, 16", "NeverByADeadNode, 3"})
  @Tag("thorough")
  void reachesTheInterestingSteps(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(WHOLE.property(never), never, states);
  }
}
