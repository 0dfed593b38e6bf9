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
 * Tenants that share a concurrency limit stay below it, are sure of their parts, and wait in order;
 * without any one of the safeguards they would not. The counts pin the model.
 */
@Tag("tlc")
class PermitSharesSpecTest {
  private static final String PROPERTIES =
      "BelowLimit StaysCovered LentWhenCovered Shielded InOrder";
  private static final Configuration THREE = Configuration.of("PermitShares");
  private static final Configuration INVENTED =
      THREE.with("Limits", "{3, 4}").with("Invented", "{\"b\", \"c\"}");

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @Test
  void tenantsAreSureOfTheirPartsBelowTheLimit() throws IOException, InterruptedException {
    tlc.assertHolds(THREE.andProperties(PROPERTIES), 1_632);
  }

  @Test
  @Tag("thorough")
  void listedTenantsAreSureOfTheirPartsBesideInventedOnes()
      throws IOException, InterruptedException {
    tlc.assertHolds(INVENTED.andProperties(PROPERTIES), 1_632);
  }

  @ParameterizedTest(name = "{0}, limits {3}, {4} wait, invented: {2}")
  @CsvSource({
    "'\"a\", \"b\", \"c\"', '\"a\"', '', '0, 3', 2, 1014",
    "'\"a\", \"b\", \"c\"', '', '\"b\", \"c\"', '2, 3', 2, 1014",
    "'\"a\", \"b\", \"c\"', '\"a\"', '\"c\"', '2, 5', 3, 6516",
    "'\"a\", \"b\", \"c\", \"d\"', '\"a\"', '\"c\", \"d\"', '2, 4', 2, 7962",
  })
  @Tag("thorough")
  void otherTenantsAndLimits(
      String tenants, String heavy, String invented, String limits, int waiting, long distinct)
      throws IOException, InterruptedException {
    Configuration sized =
        THREE
            .with("Tenants", "{" + tenants + "}")
            .with("Heavy", "{" + heavy + "}")
            .with("Invented", "{" + invented + "}")
            .with("Limits", "{" + limits + "}")
            .with("MaxWaiting", waiting);
    tlc.assertHolds(sized.andProperties(PROPERTIES), distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "limit, BelowLimit, 6",
    "release once, BelowLimit, 6",
    "reserve of others, StaysCovered, 5",
    "below first, InOrder, 7",
    "waiting first, InOrder, 4",
  })
  void grantsTooMuchOrOutOfOrderWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.without(safeguard).property(violated), violated, states);
  }

  @Test
  void aTenantBelowItsPartWouldLeaveTheReserveOfOthersFree()
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.without("part first").invariants("Sure"), "Sure", 2);
  }

  @Test
  void inventedTenantsWouldUseUpTheReserveOfListedOnes() throws IOException, InterruptedException {
    Configuration exposed = INVENTED.without("shield the listed");
    tlc.assertRefuted(exposed.property("Shielded"), "Shielded", 7);
  }

  @Test
  @Tag("thorough")
  void inventedTenantsWouldHaveMoreThanHalfOfTheLimit() throws IOException, InterruptedException {
    tlc.assertRefuted(INVENTED.without("half").invariants("Half"), "Half", 4);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({"reserve of others, LentWhenCovered, 5", "oldest first, InOrder, 6"})
  @Tag("thorough")
  void violatesFurtherPropertiesWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.without(safeguard).property(violated), violated, states);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({"part first, Latest, 2", "part first, Listed, 2", "at least one, AtLeastOne, 3"})
  @Tag("thorough")
  void violatesFurtherInvariantsWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.without(safeguard).invariants(violated), violated, states);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "NeverBorrows, 5",
    "NeverTheWholeLimit, 4",
    "NeverAboveTheLimit, 6",
    "NeverUncovered, 5",
    "NeverHeldBack, 3",
  })
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.invariants(never), never, states);
  }

  @Test
  @Tag("thorough")
  void aWaitingRequestOvertakesAnEarlierOne() throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.property("NeverOvertakes"), "NeverOvertakes", 7);
  }

  @Test
  @Tag("thorough")
  void inventedTenantsReachTheirPart() throws IOException, InterruptedException {
    tlc.assertRefuted(INVENTED.invariants("NeverHalf"), "NeverHalf", 3);
  }
}
