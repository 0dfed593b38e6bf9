package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Several descriptors of one key and value. */
class SiblingsTest {
  private final ControlPlaneFixture service = new ControlPlaneFixture();

  private static String limit(String unit, int requests) {
    return descriptor("rate_limit { unit: %s requests_per_unit: %d }".formatted(unit, requests));
  }

  private static String descriptor(String fields) {
    return "descriptors { key: 'k' value: 'v' " + fields + " } ";
  }

  @Test
  void equalOnesAreOne() {
    assertThat(service.receiveDomain(limit("HOUR", 5) + limit("HOUR", 5))).isEmpty();
    assertThat(service.rules()).containsExactly("k_v: 5 per hour (fixed_window)");
    assertThat(service.problems()).isEmpty();
  }

  @Test
  void theOnlyLimitIsThatOfAllAndNestedDescriptorsAreJoined() {
    String nested = "descriptors { key: '%s' rate_limit { unit: DAY requests_per_unit: 9 } } ";
    assertThat(
            service.receiveDomain(
                descriptor(nested.formatted("a") + "shadow_mode: true")
                    + limit("HOUR", 5)
                    + descriptor(nested.formatted("b") + nested.formatted("a"))))
        .isEmpty();
    assertThat(service.rules())
        .containsExactly(
            "k_v: 5 per hour (fixed_window)",
            "k_v.a: 9 per day (fixed_window)",
            "k_v.b: 9 per day (fixed_window)");
    assertThat(Objects.requireNonNull(service.rule("d", "k", "v")).shadow()).isFalse();
  }

  @Test
  void limitsOfTwoUnitsBothApply() {
    assertThat(service.receiveDomain(limit("HOUR", 5) + limit("SECOND", 2))).isEmpty();
    assertThat(Objects.requireNonNull(service.rule("d", "k", "v")).limits()).hasSize(2);
    assertThat(service.admits("d", "k", "v")).isTrue();
    assertThat(service.admits("d", "k", "v")).isTrue();
    assertThat(service.admits("d", "k", "v")).isFalse();
  }

  @Test
  void ofTwoLimitsWithOneUnitTheSmallerApplies() {
    assertThat(service.receiveDomain(limit("HOUR", 5) + limit("HOUR", 2) + limit("HOUR", 3)))
        .isEmpty();
    assertThat(service.rules()).containsExactly("k_v: 2 per hour (fixed_window)");
    assertThat(service.problems())
        .contains(
            "xds d: k=v: warning: two descriptors of this key and value have limits per hour, 5"
                + " and 2: the smaller applies");
  }

  @Test
  void onesThatDifferInMoreAreAMistake() {
    String answer =
        service.receiveDomain(
            limit("HOUR", 5)
                + descriptor(
                    "shadow_mode: true rate_limit { unit: HOUR requests_per_unit: 5 name: 'n' }"));
    assertThat(answer)
        .isEqualTo(
            "1 error: xds d: k=v: two descriptors of this key and value differ in shadow_mode,"
                + " name (send one of them)");
    assertThat(service.rules()).isEmpty();
  }

  @Test
  void anUnlimitedOneBesideALimitIsAMistake() {
    assertThat(
            service.receiveDomain(limit("HOUR", 5) + descriptor("rate_limit { unlimited: true }")))
        .contains("differ in unit, requests_per_unit, unlimited");
  }

  @Test
  void resourcesOfOneDomainAreMergedInTheOrderOfTheirNames() {
    String first =
        "name: 'a' domain: 'd' descriptors { key: 'x*' rate_limit { unit: DAY requests_per_unit: 1"
            + " } }";
    String second =
        "name: 'b' domain: 'd' descriptors { key: '*y' rate_limit { unit: DAY requests_per_unit: 2"
            + " } }";
    service.receive("1", second, first);
    assertThat(service.rules())
        .containsExactly("x*: 1 per day (fixed_window)", "*y: 2 per day (fixed_window)");
    Object book = service.book();
    service.receive("2", first, second);
    assertThat(service.book()).isSameAs(book);
  }
}
