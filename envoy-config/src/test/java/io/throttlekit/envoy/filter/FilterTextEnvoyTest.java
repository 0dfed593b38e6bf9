package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All examples that this Envoy knows in one bootstrap: every kind of part, for the time of one
 * start.
 */
@RealEnvoy
class FilterTextEnvoyTest {
  @TempDir Path folder;

  @Test
  void envoyAcceptsTheBootstrapOfAllExamples() throws IOException {
    List<FilterActions> all = new ArrayList<>();
    for (EnvoyExample example : EnvoyExample.values()) {
      if (example.runsOn(EnvoyProgram.version())) {
        all.add(FilterTextTest.actions(example));
      }
    }
    all.add(FilterActions.of(odd(), "odd", Map.of()));
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), new FilterText(all).bootstrap(), folder))
        .isEmpty();
  }

  private static PolicyBook odd() {
    return Policies.book(
        "odd\n- x: 1.yaml", // a name that would end a comment
        """
        domain: odd
        descriptors:
          - {key: generic_key, value: "yes", rate_limit: &one {unit: day, requests_per_unit: 1}}
          - {key: "a: #'\\n", value: "v\\n\\"x\\" \\u2028 \\\\ é 😀", rate_limit: *one}
          - {key: "a*", rate_limit: *one}
          - {key: masked_remote_address, value: "2001:db8::/32", rate_limit: *one}
          - {key: up, value: "../ä", concurrency: {}}
          - {key: up, value: b, rate_limit: *one}
        """);
  }
}
