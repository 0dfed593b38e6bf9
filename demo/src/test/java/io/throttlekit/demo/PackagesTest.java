package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.PackageRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The packages of the demo are free of cycles. No other module uses them. */
@TestInstance(Lifecycle.PER_CLASS) // all classes are read once
class PackagesTest {
  private final PackageRules rules = PackageRules.of("io.throttlekit.demo");

  @Test
  void thePackagesAreFound() {
    assertThat(rules.packages()).contains("io.throttlekit.demo", "io.throttlekit.demo.fleet");
  }

  @Test
  void packagesHaveNoCycles() {
    rules.assertNoCycles();
  }
}
