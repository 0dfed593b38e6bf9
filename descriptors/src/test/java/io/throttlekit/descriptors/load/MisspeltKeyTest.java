package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a misspelt key is the only problem that is reported. */
class MisspeltKeyTest {
  private static final Pattern KEY = Pattern.compile("[a-z_]{4,}(?=:)");

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        domain: d
        descriptors:
          - key: user
            rate_limit: {unlimited: true}
        """,
        """
        domain: d
        entries: {user: {header: x-user}}
        descriptors:
          - key: user
            value: "a*"
            share_threshold: true
            detailed_metric: true
            shadow_mode: true
            quota_mode: true
            metadata: {a: 1}
            denied: {status: 429, body: "no", headers: {x-a: b}}
            rate_limit:
              name: a
              requests_per_unit: 5
              every: 10s
              algorithm: gcra
              burst: 10
              tier: cached_deny
              on_outage: deny
              on_data_loss: deny
        """,
        """
        domain: d
        descriptors:
          - key: user
            shadow_mode: true
            rate_limit:
              requests_per_unit: 500
              unit: minute
              tier: leased
              scope: global
              lease: {size: 10, low_water: 2, return_idle_after: 30s}
              fair_share:
                tenant: t
                weight_entry: w
                weights: {gold: 4}
                default_weight: 2
                max_tenants: 10
                unlisted_share: 0.2
        """,
        """
        domain: d
        descriptors:
          - key: user
            limits:
              - {requests_per_unit: 50, unit: second, algorithm: sliding_window}
              - {requests_per_unit: 500, unit: hour}
            name: both
            overdraft: true
        """,
        """
        domain: d
        descriptors:
          - key: upstream
            concurrency:
              algorithm: probed_vegas
              min: 4
              max: 500
              initial: 20
              queue: {initial: 2, max: 3}
              lease: {ttl: 10s, release: access_log, flush_interval: 10ms, service_time: 100ms}
              priority: {entry: priority}
              coordination: {aggregate: pooled, allocation: demand, on_outage: fail_closed}
        """,
        """
        domain: d
        descriptors:
          - key: upstream
            concurrency: {gate: envoy, cluster: payments, min: 4, max: 500}
        """
      })
  void isTheOnlyProblem(String policy) {
    assertThat(problems(policy)).isEmpty();
    List<String> wrong = new ArrayList<>();
    Matcher key = KEY.matcher(policy);
    int tried = 0;
    while (key.find()) {
      int middle = (key.start() + key.end()) / 2;
      String misspelt = policy.substring(0, middle) + policy.substring(middle + 1);
      List<String> problems = problems(misspelt);
      String written = misspelt.substring(key.start(), key.end() - 1);
      boolean free = problems.isEmpty(); // a key of weights or of entries
      if (!free && (problems.size() > 1 || !problems.getFirst().contains("`" + written + "`"))) {
        wrong.add(written + ": " + problems);
      }
      tried += free ? 0 : 1;
    }
    assertThat(wrong).isEmpty();
    assertThat(tried).isPositive();
  }

  @Test
  void doesNotHideAnotherMissingKey() {
    assertThat(problems("domain: d\ndescriptors:\n- {key: k, rate_limit: {brst: 5}}\n")).hasSize(3);
  }

  private static List<String> problems(String policy) {
    return Loading.problems(policy);
  }
}
