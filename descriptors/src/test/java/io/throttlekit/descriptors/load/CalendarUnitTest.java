package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CalendarUnitTest {
  @Test
  void warnsOnceOfARuleWhoseWindowSeemsToBeOneOfTheCalendar() {
    String rules =
        """
        domain: d
        descriptors:
          - {key: a, rate_limit: {requests_per_unit: 1, unit: MONTH}}
          - key: b
            limits:
              - {requests_per_unit: 1, unit: day}
              - {requests_per_unit: 2, unit: year}
              - {requests_per_unit: 2, unit: month}
          - {key: c, rate_limit: {requests_per_unit: 1, every: 30d}}
        """;
    assertThat(Loading.problems(rules))
        .containsExactly(
            "a.yaml:3:55: warning: a month is 30 days counted from 1970-01-01 UTC, not one of the"
                + " calendar (write every: 30d if that is meant)",
            "a.yaml:7:38: warning: a year is 365 days counted from 1970-01-01 UTC, not one of the"
                + " calendar (write every: 365d if that is meant)");
    LoadOptions standsIn = new LoadOptions(true, "", true, true, true, true);
    assertThat(new PolicyLoader(standsIn).load(Loading.sources(rules)).problems()).isEmpty();
  }
}
