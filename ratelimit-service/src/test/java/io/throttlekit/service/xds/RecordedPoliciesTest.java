package io.throttlekit.service.xds;

import static io.throttlekit.service.xds.ControlPlaneFixture.recorded;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What Envoy Gateway 1.9.1 sent, and the requests that its Envoys send for it. */
class RecordedPoliciesTest {
  private static final String ROUTE = "httproute/default/r1/rule/0/match/0/www_example_com";
  private static final String DOMAIN = "default/eg/http";

  private final ControlPlaneFixture service = new ControlPlaneFixture();

  @Test
  void everyRuleOfTheRecordedRoutesIsInEffect() {
    assertThat(service.receive("1", recorded("routes"))).isEmpty();
    assertThat(service.book().domains())
        .containsExactly("default/eg/http", "default/eg/http2", "default/p2");
    assertThat(service.rules().stream().map(RecordedPoliciesTest::shortened))
        .containsExactly(
            "rule-0-match--1_rule-0-match--1: 20 per hour",
            "rule-0-match--1_rule-0-match--1: 20 per hour",
            "rule-0-match-0: 3 per hour",
            "rule-1-match-0_rule-1-match-0: 5 per second",
            "remote_address: 100 per minute",
            "rule-3-match-3_rule-3-match-3: 7 per day",
            "rule-4-match--1_rule-4-match--1: 50 per month",
            "rule-5-match-0_rule-5-match-0: 0 per year",
            "rule-6-match-0_rule-6-match-0: 4294967295 per week",
            "rule-0-match--1_rule-0-match--1: 20 per hour",
            "rule-0-match--1_rule-0-match--1: 20 per hour",
            "rule-0-match-0: 10 per minute",
            "rule-1-match--1_rule-1-match--1: 30 per day");
  }

  /** Returns the last descriptor of the path, and the limit without its algorithm. */
  private static String shortened(String rule) {
    return rule.replaceFirst(".*\\.([^.]+: )", "$1").replaceFirst(" \\(fixed_window\\).*", "");
  }

  @Test
  void aSharedRuleCountsTheValuesOfADistinctHeaderApart() {
    service.receive("1", recorded("routes"));
    String shared = "default/p2/rule/0";
    assertThat(service.left("default/p2", shared, shared, "rule-0-match-0", "ann")).isEqualTo(9);
    assertThat(service.left("default/p2", shared, shared, "rule-0-match-0", "ann")).isEqualTo(8);
    assertThat(service.left("default/p2", shared, shared, "rule-0-match-0", "bob")).isEqualTo(9);
  }

  @Test
  void aLimitOfZeroRefusesAndShadowModeBelowTheRouteAdmits() {
    service.receive("1", recorded("routes"));
    assertThat(service.admits(DOMAIN, ROUTE, ROUTE, "rule-5-match-0", "rule-5-match-0")).isFalse();
    String[] shadow = {
      ROUTE,
      ROUTE,
      "rule-3-match-0",
      "rule-3-match-0",
      "rule-3-match-1",
      "b",
      "rule-3-method",
      "rule-3-method",
      "rule-3-path",
      "rule-3-path",
      "masked_remote_address",
      "invert:10.0.0.0/8",
      "rule-3-match-2",
      "q",
      "rule-3-match-3",
      "rule-3-match-3"
    };
    assertThat(Objects.requireNonNull(service.rule(DOMAIN, shadow)).shadow()).isTrue();
    for (int i = 0; i < 9; i++) {
      assertThat(service.admits(DOMAIN, shadow)).isTrue();
    }
  }

  @Test
  void shadowModeOfDescriptorsWithoutALimitIsNoProblem() {
    service.receive("1", recorded("routes"));
    assertThat(service.problems()).isEmpty();
    assertThat(service.store.status().good()).isTrue();
  }

  @Test
  void anExactAndADistinctRuleOnTheSameNetworkBothApply() {
    assertThat(service.receive("3", recorded("network-twice"))).isEmpty();
    assertThat(service.store.status().good()).isTrue();
    String network = "masked_remote_address";
    assertThat(service.left(DOMAIN, ROUTE, ROUTE, network, "127.0.0.0/8")).isEqualTo(999);
    String[] ofClient = {ROUTE, ROUTE, network, "127.0.0.0/8", "remote_address", "127.0.0.1"};
    assertThat(service.left(DOMAIN, ofClient)).isEqualTo(3);
    assertThat(service.left(DOMAIN, ROUTE, ROUTE, network, "127.0.0.0/8")).isEqualTo(998);
  }

  @Test
  void countersGoOnThroughTheWholeRecordedStream() {
    List<Any> routes = recorded("routes");
    String[] counted = {ROUTE, ROUTE, "rule-4-match--1", "rule-4-match--1"};
    service.receive("1", routes);
    assertThat(service.left(DOMAIN, counted)).isEqualTo(49);
    service.receive("2", recorded("changed-limit"));
    assertThat(service.left(DOMAIN, counted)).isEqualTo(48);
    service.receive("7", routes.reversed()); // any change of a route repeats all policies
    assertThat(service.left(DOMAIN, counted)).isEqualTo(47);
    service.receive("11", recorded("one-network")); // without the rule
    assertThat(service.rule(DOMAIN, counted)).isNull();
    service.receive("12"); // all policies removed
    assertThat(service.book().domains()).isEmpty();
    assertThat(service.admits(DOMAIN, counted)).isTrue();
    service.receive("13", routes);
    assertThat(service.left(DOMAIN, counted)).isEqualTo(46);
    service.receive(""); // the gateway removed
    service.receive("15", routes);
    assertThat(service.left(DOMAIN, counted)).isEqualTo(45);
    service.receive("1", routes.reversed()); // Envoy Gateway restarted
    assertThat(service.left(DOMAIN, counted)).isEqualTo(44);
  }

  @Test
  void aSetThatDiffersOnlyInVersionAndOrderIsNotLoadedAgain() {
    List<Any> routes = recorded("routes");
    service.receive("1", routes);
    Object book = service.book();
    service.receive("2", routes.reversed());
    assertThat(service.book()).isSameAs(book);
    assertThat(service.store.status().generation()).isEqualTo(1);
    assertThat(service.status().version()).isEqualTo("2");
    assertThat(service.status().unchanged()).isEqualTo(1);
    assertThat(service.loads).containsExactly(true, true); // as that program counts
  }
}
