package io.throttlekit.bench;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * The packages of all modules are small and free of cycles. This module is the only one that
 * depends on all others.
 */
@TestInstance(Lifecycle.PER_CLASS) // all classes are read once
class PackagesTest {
  private static final int MAX_FILES = 30;

  private final JavaClasses production =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("jmh_generated"))
          .importPackages("io.throttlekit");

  @Test
  void noPackageHasMoreThan30Files() {
    Map<String, Long> files =
        production.stream()
            .filter(JavaClass::isTopLevelClass) // package-info is one of them
            .collect(groupingBy(JavaClass::getPackageName, counting()));
    assertThat(files)
        .containsKeys(
            "io.throttlekit",
            "io.throttlekit.bench",
            "io.throttlekit.demo",
            "io.throttlekit.descriptors.policy",
            "io.throttlekit.envoy",
            "io.throttlekit.postgres",
            "io.throttlekit.redis",
            "io.throttlekit.service",
            "io.throttlekit.simulator.concurrency",
            "io.throttlekit.testkit.net");
    assertThat(files).allSatisfy((_, number) -> assertThat(number).isLessThanOrEqualTo(MAX_FILES));
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.throttlekit.(**)").should().beFreeOfCycles().check(production);
  }
}
