package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.PackageRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The packages of all modules but the demo are free of cycles. */
@TestInstance(Lifecycle.PER_CLASS) // all classes are read once
class PackagesTest {
  private final PackageRules rules = PackageRules.of("io.throttlekit");

  @Test
  void thePackagesAreFound() {
    assertThat(rules.packages())
        .contains(
            "io.throttlekit.bench",
            "io.throttlekit",
            "io.throttlekit.descriptors.policy",
            "io.throttlekit.envoy",
            "io.throttlekit.postgres",
            "io.throttlekit.redis",
            "io.throttlekit.service",
            "io.throttlekit.simulator.concurrency",
            "io.throttlekit.testkit.net");
  }

  @Test
  void packagesHaveNoCycles() {
    rules.assertNoCycles();
  }
}
