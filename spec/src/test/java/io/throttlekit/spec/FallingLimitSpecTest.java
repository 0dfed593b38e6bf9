package io.throttlekit.spec;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The shares of a limit that falls fall to their targets, not below, and no faster than requests
 * end; without any one of the safeguards they would not. The counts pin the model.
 */
@Tag("tlc")
class FallingLimitSpecTest {
  private static final Configuration TWO = Configuration.of("FallingLimit");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "{0} nodes, limits up to {1}")
  @CsvSource({"2, 3, 866", "3, 2, 423"})
  void sharesFallToTheirTargets(int nodes, int limit, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(sized(nodes, limit), distinct);
  }

  @ParameterizedTest(name = "{0} nodes, limits up to {1}")
  @CsvSource({"2, 4, 2899", "3, 3, 2534"})
  @Tag("thorough")
  void sharesOfLargerLimitsFallToTheirTargets(int nodes, int limit, long distinct)
      throws IOException, InterruptedException {
    tlc.assertHolds(sized(nodes, limit), distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": in {1} states")
  @CsvSource({
    "at most the target, 5",
    "targets within limit, 6",
    "targets at rest, 7",
  })
  void sharesExceedALimitThatFell(String removed, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(TWO.without(removed).invariants("Divided"), "Divided", states);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "keep what it has, FallsToTarget, 5",
    "rise into free only, NeverRises, 4",
  })
  void sharesFallTooFarOrRise(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(TWO.without(safeguard).property(violated), violated, states);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"NeverTheWholeLimit, 2", "NeverOver, 3", "NeverHeldBack, 4"})
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(TWO.invariants(never), never, states);
  }

  private static Configuration sized(int nodes, int limit) {
    return TWO.with("Nodes", Configuration.nodes(nodes))
        .with("MaxLimit", limit)
        .andProperties("NeverRises FallsToTarget");
  }
}
