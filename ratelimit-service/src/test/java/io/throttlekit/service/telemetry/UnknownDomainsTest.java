package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.service.Logged;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnknownDomainsTest {

  @Test
  void eachNameIsLoggedOnceAndThoseBeyondTheBoundAreNot() {
    List<String> logged = new ArrayList<>();
    UnknownDomains domains = new UnknownDomains(2, logged::add);
    for (String name : List.of("a", "a", "b", "c", "d", "b")) {
      domains.count(name, 1);
    }
    assertThat(logged).containsExactly("a", "b");
    assertThat(domains.gathered()).isEqualTo(2);
  }

  @Test
  void theLineNamesTheDomainAndASuggestion() {
    try (Logged logged = Logged.by(RateLimitMetrics.class);
        MetricsFixture fixture = MetricsFixture.of("domain: shop\n")) {
      fixture.metrics.domainNotFound("shpo", 1);
      fixture.metrics.domainNotFound("shpo", 1);
      fixture.metrics.domainNotFound("a\nb", 1);
      await().until(() -> logged.lines().size() == 2);
      assertThat(logged.lines())
          .containsExactly(
              "WARNING requests name the domain `shpo`, which no policy has: nothing limits them"
                  + " (did you mean `shop`?)",
              "WARNING requests name the domain `a\uFFFDb`, which no policy has: nothing limits"
                  + " them");
    }
  }
}
