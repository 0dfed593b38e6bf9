package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.config.route.v3.RateLimit;
import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.policy.PolicyBook;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FilterActionsTest {
  private static final String ONE = "rate_limit: {unit: day, requests_per_unit: 1}";

  @Test
  void oneListServesAllValuesOfAKey() {
    assertThat(
            lists(
                """
                  - {key: user, %1$s}
                  - {key: user, value: admin, rate_limit: {unlimited: true}}
                  - {key: user, value: bot*, %1$s}
                """))
        .containsExactly("request_headers: {header_name: x-user, descriptor_key: user}");
  }

  @Test
  void eachDepthWithALimitHasAList() {
    assertThat(
            lists(
                """
                  - key: path
                    value: /a*
                    descriptors:
                      - {key: user, %1$s}
                  - key: path
                    value: /b
                    %1$s
                """))
        .containsExactly(
            "request_headers: {header_name: \":path\", descriptor_key: path}",
            "request_headers: {header_name: \":path\", descriptor_key: path}"
                + " | request_headers: {header_name: x-user, descriptor_key: user}");
  }

  @Test
  void keysOfEnvoyAreFilledByIt() {
    assertThat(
            lists(
                """
                  - {key: remote_address, %1$s}
                  - {key: masked_remote_address, value: 10.0.0.0/8, %1$s}
                  - {key: masked_remote_address, value: "2001:db8::/32", %1$s}
                  - {key: source_cluster, descriptors: [{key: destination_cluster, %1$s}]}
                  - {key: method, value: POST, %1$s}
                  - {key: generic_key, value: all, %1$s}
                """))
        .containsExactly(
            "remote_address: {}",
            "masked_remote_address: {v4_prefix_mask_len: 8}",
            "masked_remote_address: {v6_prefix_mask_len: 32}",
            "source_cluster: {} | destination_cluster: {}",
            "request_headers: {header_name: \":method\", descriptor_key: method}",
            "generic_key: {descriptor_value: all}");
  }

  /** Else Envoy would reject the whole filter, and with it the limits of all other descriptors. */
  @Test
  void anAddressWithTooLongAPrefixIsLeftOut() {
    FilterActions actions =
        actions(
            """
              - {key: masked_remote_address, value: 10.0.0.0/33, %1$s}
              - {key: masked_remote_address, value: "2001:db8::/129", %1$s}
              - {key: remote_address, %1$s}
            """);
    assertThat(actions.rateLimits()).hasSize(1);
    assertThat(actions.missing()).hasSize(2).allMatch(line -> line.contains("so long a prefix"));
  }

  @Test
  void aSingleFixedValueIsTheSameForEveryRequest() {
    assertThat(lists("  - {key: api, value: all, %s}\n"))
        .containsExactly("generic_key: {descriptor_value: all, descriptor_key: api}");
  }

  @Test
  void severalFixedValuesAreLeftToRoutes() {
    FilterActions actions =
        actions("  - {key: up, value: a, %1$s}\n  - {key: up, value: b, %1$s}\n");
    assertThat(actions.rateLimits()).isEmpty();
    assertThat(actions.ofRoutes().keySet().stream().map(RouteChoice::toString))
        .containsExactly("`up` = `a`", "`up` = `b`");
    assertThat(actions.missing()).hasSize(2).allMatch(line -> line.endsWith("on the route"));
  }

  /** Else the customers of the unlimited value would be limited, as if they had the other one. */
  @Test
  void anUnlimitedValueCountsAsAChoice() {
    FilterActions actions =
        actions(
            """
              - {key: tier, value: free, %s}
              - {key: tier, value: pro, rate_limit: {unlimited: true}}
            """);
    assertThat(actions.rateLimits()).isEmpty();
    assertThat(actions.ofRoutes()).hasSize(1);
  }

  @Test
  void sourcesOfThePolicyAndOfTheCallerReplaceGuesses() {
    PolicyBook book =
        Policies.book(
            "d.yaml",
            """
            domain: d
            entries:
              plan: {header: X-Plan-Name}
              api: {value: all}
            descriptors:
              - key: api
                descriptors:
                  - {key: plan, value: gold, %1$s}
                  - {key: plan, value: silver, %1$s}
            """
                .formatted(ONE));
    assertThat(texts(FilterActions.of(book, "d", Map.of())))
        .containsExactly(
            "generic_key: {descriptor_value: all, descriptor_key: api}"
                + " | request_headers: {header_name: x-plan-name, descriptor_key: plan}");
    assertThat(texts(FilterActions.of(book, "d", Map.of("plan", new EntrySource.Header("p")))))
        .containsExactly(
            "generic_key: {descriptor_value: all, descriptor_key: api}"
                + " | request_headers: {header_name: p, descriptor_key: plan}");
  }

  /** A request without the plan still has its tenant; one without the tenant has no limit. */
  @Test
  void onlyTheTenantOfAFairShareIsRequired() {
    assertThat(
            lists(
                """
                  - key: generic_key
                    value: api
                    rate_limit: {unit: day, requests_per_unit: 100, fair_share: {tenant: org, weight_entry: plan, weights: {gold: 2}}}
                """))
        .containsExactly(
            "generic_key: {descriptor_value: api} | request_headers: {header_name: x-org,"
                + " descriptor_key: org} | request_headers: {header_name: x-plan, descriptor_key:"
                + " plan, skip_if_absent: true}");
  }

  @Test
  void aPermitIsReleasedAndReportedWhenTheStreamIsDone() {
    FilterActions actions = actions("  - {key: up, value: a, concurrency: {}}\n");
    List<RateLimit> lists = actions.rateLimits();
    assertThat(lists.stream().map(RateLimit::getApplyOnStreamDone))
        .containsExactly(false, true, true, true);
    assertThat(lists.get(1).getActions(0).getMetadata().getDescriptorKey())
        .isEqualTo("throttlekit_lease");
    assertThat(lists.get(2).getHitsAddend().getFormat()).isEqualTo("%RESPONSE_CODE%");
  }

  @Test
  void aLimitOfEnvoyItselfNeedsNoDescriptor() {
    FilterActions actions =
        actions("  - {key: up, value: a, concurrency: {gate: envoy, cluster: a}}\n");
    assertThat(actions.rateLimits()).isEmpty();
    assertThat(actions.missing()).isEmpty();
    assertThat(actions.atEnvoys()).hasSize(1);
  }

  @Test
  void theNameOfALimitOfEnvoyIsNoChoiceOfARoute() {
    assertThat(
            lists(
                """
                  - {key: up, value: a, %s}
                  - {key: up, value: b, concurrency: {gate: envoy, cluster: b}}
                """))
        .containsExactly("generic_key: {descriptor_value: a, descriptor_key: up}");
  }

  @Test
  void keysWithoutADerivableSourceAreReported() {
    FilterActions actions =
        actions(
            """
              - {key: "a*", %1$s}
              - {key: header_match, value: x, %1$s}
              - {key: generic_key, %1$s}
            """);
    assertThat(actions.rateLimits()).isEmpty();
    assertThat(actions.missing()).hasSize(3).allMatch(line -> line.contains("d.yaml:"));
  }

  @Test
  void anUnknownDomainHasNoActions() {
    assertThat(FilterActions.of(PolicyBook.of(Map.of()), "x", Map.of()).rateLimits()).isEmpty();
  }

  private static FilterActions actions(String descriptors) {
    return FilterActions.of(Policies.ofDescriptors(descriptors.formatted(ONE)), "d", Map.of());
  }

  private static List<String> lists(String descriptors) {
    return texts(actions(descriptors));
  }

  private static List<String> texts(FilterActions actions) {
    return actions.rateLimits().stream()
        .map(list ->
            list.getActionsList().stream().map(FlowText::fields).collect(Collectors.joining(" | ")))
        .toList();
  }
}
