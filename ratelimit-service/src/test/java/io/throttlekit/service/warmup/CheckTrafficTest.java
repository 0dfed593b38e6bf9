package io.throttlekit.service.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.authz.CheckFixture;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Setup;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CheckTrafficTest {
  private final CheckFixture authorizing =
      new CheckFixture(
          Traffic.POLICIES,
          CheckTraffic.config(new ExtAuthzConfig("", List.of(), false)),
          ConfigLoader.defaults().response(),
          Setup.NATIVE);

  @Test
  void isAdmittedAndRefusedAndHoldsNoLease() {
    TreeMap<Integer, Integer> statuses = new TreeMap<>();
    for (byte[] message : CheckTraffic.messages().next(1_000)) {
      int status = authorizing.check(message).getDeniedResponse().getStatus().getCodeValue();
      statuses.merge(status, 1, Integer::sum);
    }
    assertThat(statuses).containsOnlyKeys(0, 429);
    assertThat(statuses.values()).allMatch(count -> count > 50);
    assertThat(authorizing.gated.leased).hasValue(0);
  }
}
