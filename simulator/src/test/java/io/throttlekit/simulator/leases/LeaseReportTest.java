package io.throttlekit.simulator.leases;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the published tables, re-created to the last digit, and ours beside them. */
class LeaseReportTest {
  private static final Map<String, PolicyRow> POLICIES =
      PolicyRow.all().stream().collect(Collectors.toMap(PolicyRow::policy, Function.identity()));

  @ParameterizedTest
  @CsvSource({
    "strict, 51186, 0, 1.000",
    "'a fifth each, no leases', 0, 0, 0.446",
    "'carry-over, 5', 14444, 10, 1.003",
    "'carry-over, 10', 9669, 28, 1.007",
    "'carry-over, 20', 7310, 38, 1.007",
    "'coupled, 5', 17178, 0, 0.955",
    "'coupled, 10', 17039, 0, 0.864",
    "'coupled, 20', 33702, 0, 0.446",
    "'GALE, h = 10', 12731, 0, 0.962",
    "'GALE, h = 1', 17211, 0, 0.802",
    "'GALE, h = 5', 11678, 0, 0.954",
    "'GALE, h = 20', 13741, 0, 0.979",
  })
  void reproducesThePublishedPolicies(
      String policy, long trips, long overshoot, String utilization) {
    Fleet.Outcome found = outcome(policy);
    assertThat(found.trips()).isEqualTo(trips);
    assertThat(Math.max(0, found.overshoot())).isEqualTo(overshoot);
    assertThat(digits(found.utilization(), 3)).isEqualTo(utilization);
  }

  @Test
  void thePublishedColumnMatchesTheRecreation() {
    assertThat(POLICIES.values())
        .filteredOn(row -> !row.published().isEmpty())
        .hasSize(9)
        .allSatisfy(
            row -> assertThat(row.row()).contains(row.published() + " | " + row.published()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 10, 20})
  void oursNeedsNoMoreTripsOrUnusedUnitsThanThePublishedLearner(int stranding) {
    Fleet.Outcome published = outcome("GALE, h = " + stranding);
    Fleet.Outcome ours = outcome("adaptive, h = " + stranding);
    assertThat(ours.overshoot()).isLessThanOrEqualTo(0);
    assertThat(ours.trips()).isLessThanOrEqualTo(published.trips());
    assertThat(ours.utilization()).isGreaterThanOrEqualTo(published.utilization());
  }

  @ParameterizedTest
  @ValueSource(strings = {"adaptive by default", "predictive by default"})
  void theDefaultBeatsThePublishedRowUnderEitherCountOfRoundTrips(String policy) {
    PolicyRow published = row("GALE, h = 10");
    PolicyRow ours = row(policy);
    assertThat(ours.found().overshoot()).isLessThanOrEqualTo(0);
    assertThat(ours.found().trips()).isLessThan(published.found().trips());
    assertThat(ours.tripsRemembering()).isLessThan(published.tripsRemembering());
    assertThat(ours.found().utilization()).isGreaterThan(published.found().utilization());
  }

  @Test
  void reproducesThePublishedRegretsAndOursAreNotLarger() {
    List<RegretRow> rows = RegretRow.all();
    assertThat(rows)
        .extracting(row -> digits(row.recreated(), 2))
        .containsExactly("18.56", "4.74", "1.28", "0.40");
    assertThat(rows)
        .extracting(row -> digits(row.recreatedWhole(), 2))
        .containsExactly("23.41", "6.76", "2.32", "0.62");
    assertThat(rows)
        .allSatisfy(row -> {
          assertThat(row.ours()).isLessThanOrEqualTo(row.published());
          assertThat(row.oursWhole()).isLessThanOrEqualTo(row.recreatedWhole());
        });
  }

  @Test
  void reproducesThePublishedOvershootByFleetSize() {
    assertThat(FleetSizeRow.all())
        .hasSize(4)
        .allSatisfy(row -> {
          assertThat(row.carryOver()).isEqualTo(row.published());
          assertThat(row.coupled()).isLessThanOrEqualTo(0);
          assertThat(row.adaptive()).isLessThanOrEqualTo(0);
        });
  }

  @Test
  void theReportIsReproducibleAndItsJsonIsOneLine() {
    LeaseReport report = new LeaseReport();
    assertThat(new LeaseReport().markdown()).isEqualTo(report.markdown());
    assertThat(report.markdown()).contains("| strict | 51,186, 0, 1.000 | 51,186, 0, 1.000 |");
    assertThat(report.json())
        .startsWith("{\"policies\":[{\"policy\":\"strict\"")
        .doesNotContain("\n");
  }

  private static Fleet.Outcome outcome(String policy) {
    return row(policy).found();
  }

  private static PolicyRow row(String policy) {
    return Objects.requireNonNull(POLICIES.get(policy));
  }

  private static String digits(double value, int places) {
    return String.format(Locale.ROOT, "%." + places + "f", value);
  }
}
