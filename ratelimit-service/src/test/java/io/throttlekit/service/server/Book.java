package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import java.util.List;
import java.util.Objects;

/** Policies for tests. */
public final class Book {

  /** The policies that the recorded cases of envoyproxy/ratelimit name X. */
  public static final String X =
      """
      domain: x
      descriptors:
        - {key: zero, rate_limit: {unit: day, requests_per_unit: 0}}
        - {key: one, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: five, rate_limit: {unit: day, requests_per_unit: 5}}
        - {key: ten, rate_limit: {unit: day, requests_per_unit: 10, name: ten-limit}}
        - {key: sec, rate_limit: {unit: second, requests_per_unit: 10}}
        - {key: min, rate_limit: {unit: minute, requests_per_unit: 10}}
        - {key: hr, rate_limit: {unit: HOUR, requests_per_unit: 10}}
        - {key: wk, rate_limit: {unit: week, requests_per_unit: 7}}
        - {key: mo, rate_limit: {unit: Month, requests_per_unit: 30}}
        - {key: yr, rate_limit: {unit: YEAR, requests_per_unit: 365}}
        - {key: max, rate_limit: {unit: day, requests_per_unit: 4294967295}}
        - {key: hundred, rate_limit: {unit: day, requests_per_unit: 100}}
        - {key: sh, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: q1, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: q2, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 2}}
        - {key: unl, rate_limit: {unlimited: true, replaces: [{name: ten-limit}]}}
        - {key: rep, rate_limit: {unit: day, requests_per_unit: 2, replaces: [{name: ten-limit}]}}
        - {key: odd, rate_limit: {every: 10s, requests_per_unit: 10}}
        - {key: over, rate_limit: {unit: day, requests_per_unit: 10, overdraft: true}}
        - key: two
          limits:
            - {unit: second, requests_per_unit: 4}
            - {unit: day, requests_per_unit: 6}
      """;

  private Book() {}

  /** Returns the book of one policy file. */
  public static PolicyBook of(String yaml) {
    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(List.of(new PolicySource("test.yaml", yaml)));
    assertThat(result.book()).as("%s", result.problems()).isNotNull();
    return Objects.requireNonNull(result.book());
  }
}
