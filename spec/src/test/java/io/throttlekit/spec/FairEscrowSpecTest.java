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
 * Tenants that share a limit stay within it and have their guarantees; without any one of the
 * safeguards they would not. The counts pin the model.
 */
@Tag("tlc")
class FairEscrowSpecTest {
  private static final Configuration THREE = Configuration.of("FairEscrow");
  private static final Configuration UNIT_COSTS = THREE.with("MaxCost", 1);
  private static final Configuration INVENTED =
      UNIT_COSTS.with("Limit", 4).with("Invented", "{\"b\", \"c\"}");

  /** So many equal tenants that more than one unit is left by rounding. */
  private static final Configuration FOUR =
      UNIT_COSTS
          .with("Tenants", "{\"a\", \"b\", \"c\", \"d\"}")
          .with("Heavy", "{}")
          .with("Limit", 3)
          .with("MaxTenants", 4)
          .with("MaxWindows", 2);

  @TempDir Path scratch;
  private Tlc tlc;

  @BeforeEach
  void makeTlc() {
    tlc = new Tlc(scratch);
  }

  @ParameterizedTest(name = "limit {0}, costs to {1}, {2} tenants remembered, invented: {3}")
  @CsvSource({
    "5, 2, 3, '', 1087",
    "5, 1, 3, '', 849",
    "5, 2, 2, '', 1380",
    "4, 1, 3, '\"b\", \"c\"', 571",
    "5, 2, 3, '\"b\", \"c\"', 1113",
    "7, 2, 3, '\"c\"', 2015",
  })
  void tenantsHaveTheirGuaranteesWithinTheLimit(
      int limit, int maxCost, int maxTenants, String invented, long distinct)
      throws IOException, InterruptedException {
    Configuration sized =
        THREE
            .with("Limit", limit)
            .with("MaxCost", maxCost)
            .with("MaxTenants", maxTenants)
            .with("Invented", "{" + invented + "}");
    tlc.assertHolds(sized.andProperties("OneCost"), distinct);
  }

  @ParameterizedTest(name = "without \"{0}\": {1}, in {2} states")
  @CsvSource({
    "limit, WithinLimit, 7",
    "reserve of others, Reserved, 9",
    "carry over, Reserved, 7",
    "guarantee first, Late, 5",
  })
  void failsWithoutASafeguard(String safeguard, String violated, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(UNIT_COSTS.without(safeguard).invariants(violated), violated, states);
  }

  @Test
  void inventedTenantsWouldUseUpTheReserveOfListedOnes() throws IOException, InterruptedException {
    Configuration exposed = INVENTED.without("shield the listed");
    tlc.assertRefuted(exposed.invariants("Shielded"), "Shielded", 6);
  }

  @Test
  void tenantsThatEvictEachOtherWouldExceedTheLimit() throws IOException, InterruptedException {
    Configuration two = UNIT_COSTS.with("MaxTenants", 2);
    tlc.assertRefuted(two.without("evicted count").invariants("WithinLimit"), "WithinLimit", 8);
  }

  @Test
  void aTenantWouldExceedItsGuaranteeByEverythingThatRoundingLeaves()
      throws IOException, InterruptedException {
    tlc.assertRefuted(FOUR.without("one cost").property("OneCost"), "OneCost", 7);
  }

  @Test
  void aTenantWouldKeepAGuaranteeThatItHadAlone() throws IOException, InterruptedException {
    Configuration seven = UNIT_COSTS.with("Limit", 7);
    tlc.assertRefuted(seven.without("current weights").property("OneCost"), "OneCost", 6);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "NeverBorrows, 3",
    "NeverTheWholeLimit, 4",
    "NeverShort, 7",
    "NeverUsedByLateTenants, 4"
  })
  @Tag("thorough")
  void reachesTheInterestingStates(String never, int states)
      throws IOException, InterruptedException {
    tlc.assertRefuted(THREE.invariants(never), never, states);
  }

  @Test
  @Tag("thorough")
  void inventedTenantsReachTheirPart() throws IOException, InterruptedException {
    tlc.assertRefuted(INVENTED.invariants("NeverHalf"), "NeverHalf", 3);
  }
}
