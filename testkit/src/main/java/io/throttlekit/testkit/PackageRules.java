package io.throttlekit.testkit;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.toSet;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;

/**
 * The rules for the packages of the modules on a class path, for the tests of modules at the end of
 * the build. Needs ArchUnit on the class path of these tests.
 */
public final class PackageRules {
  private final JavaClasses production;

  private PackageRules(JavaClasses production) {
    this.production = production;
  }

  /**
   * Reads the classes of a package and of those below it on the class path, without tests and
   * generated ones.
   */
  public static PackageRules of(String name) {
    return new PackageRules(
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("jmh_generated"))
            .importPackages(name));
  }

  /** Returns the names of the packages. */
  public Set<String> packages() {
    return production.stream().map(JavaClass::getPackageName).collect(toSet());
  }

  /**
   * Checks that no packages depend on each other in a cycle.
   *
   * @throws AssertionError when some do; says which classes
   */
  public void assertNoCycles() {
    slices().matching("io.throttlekit.(**)").should().beFreeOfCycles().check(production);
  }
}
