package io.throttlekit.service;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** A module uses only modules below it. */
@TestInstance(Lifecycle.PER_CLASS) // all classes are read once
class LayersTest {
  private static final String[] DESCRIPTORS = {"io.throttlekit.descriptors.."};
  private static final String[] REDIS = {"io.throttlekit.redis.."};
  private static final String[] POSTGRES = {"io.throttlekit.postgres.."};
  private static final String[] ENVOY = {"io.throttlekit.envoy.."};
  private static final String[] SERVICE = {"io.throttlekit.service.."};
  private static final DescribedPredicate<JavaClass> ENGINE =
      resideInAnyPackage("io.throttlekit..")
          .and(
              not(
                  resideInAnyPackage(
                      "io.throttlekit.descriptors..",
                      "io.throttlekit.redis..",
                      "io.throttlekit.postgres..",
                      "io.throttlekit.envoy..",
                      "io.throttlekit.http2..",
                      "io.throttlekit.service..")));

  /** The types by which the engine describes failures of stores; it opens no connections. */
  private static final DescribedPredicate<JavaClass> FAILURES_OF_NETWORKS =
      type(UnknownHostException.class)
          .or(type(SSLException.class))
          .or(type(CertificateException.class))
          .or(type(CertPathBuilderException.class));

  private final JavaClasses production =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .withImportOption(location -> !location.contains("io/throttlekit/testkit/"))
          .withImportOption(location -> !location.contains("io/throttlekit/simulator/"))
          .importPackages("io.throttlekit");

  @Test
  void everyLayerHasClasses() {
    assertThat(production.stream().filter(ENGINE)).isNotEmpty();
    assertThat(production.stream().filter(resideInAnyPackage(DESCRIPTORS))).isNotEmpty();
    assertThat(production.stream().filter(resideInAnyPackage(REDIS))).isNotEmpty();
    assertThat(production.stream().filter(resideInAnyPackage(POSTGRES))).isNotEmpty();
    assertThat(production.stream().filter(resideInAnyPackage(ENVOY))).isNotEmpty();
    assertThat(production.stream().filter(resideInAnyPackage(SERVICE))).isNotEmpty();
  }

  @Test
  void theEngineDependsOnlyOnTheJdkCaffeineAndJspecify() {
    check(
        classes()
            .that(ENGINE)
            .should()
            .onlyDependOnClassesThat(
                ENGINE
                    .or(FAILURES_OF_NETWORKS)
                    .or(
                        resideInAnyPackage(
                            "java.util..",
                            "java.lang..",
                            "java.time..",
                            "java.io",
                            "java.nio",
                            "java.security",
                            "com.github.benmanes.caffeine..",
                            "org.jspecify.."))));
  }

  @Test
  void policiesDependOnlyOnTheEngineTheJdkAndTheYamlParser() {
    check(
        classes()
            .that()
            .resideInAnyPackage(DESCRIPTORS)
            .should()
            .onlyDependOnClassesThat(
                ENGINE
                    .or(resideInAnyPackage(DESCRIPTORS))
                    .or(
                        resideInAnyPackage(
                            "java.util..",
                            "java.lang..",
                            "java.math..",
                            "java.time..",
                            "java.io",
                            "java.nio..",
                            "org.snakeyaml.engine..",
                            "org.jspecify.."))));
  }

  @Test
  void theStoresOnRedisDependOnlyOnTheEngineLettuceAndNetty() {
    check(
        classes()
            .that()
            .resideInAnyPackage(REDIS)
            .should()
            .onlyDependOnClassesThat(
                ENGINE
                    .or(resideInAnyPackage(REDIS))
                    .or(
                        resideInAnyPackage(
                            "java..", "io.lettuce..", "io.netty..", "org.jspecify.."))));
  }

  @Test
  void theStoresOnPostgresDependOnlyOnTheEngineTheJdkTheDriverAndThePool() {
    check(
        classes()
            .that()
            .resideInAnyPackage(POSTGRES)
            .should()
            .onlyDependOnClassesThat(
                ENGINE
                    .or(resideInAnyPackage(POSTGRES))
                    .or(
                        resideInAnyPackage(
                            "java..",
                            "javax.sql..",
                            "com.zaxxer.hikari..",
                            "org.postgresql..",
                            "org.jspecify.."))));
  }

  @Test
  void theEnvoySideDoesNotDependOnTheService() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(ENVOY)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(SERVICE));
  }

  @Test
  void protobufTypesStayInTheFrontEnds() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(
                "io.throttlekit.service.admission..", "io.throttlekit.service.policies..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.envoyproxy..", "com.google.protobuf..", "io.grpc.."));
  }

  @Test
  void decisionsDoNotDependOnTelemetry() {
    check(
        noClasses()
            .that()
            .resideInAnyPackage(SERVICE)
            .and()
            .resideOutsideOfPackages(
                "io.throttlekit.service", // the composition root
                "io.throttlekit.service.telemetry..",
                "io.throttlekit.service.warmup..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                "io.throttlekit.service.telemetry..", "io.opentelemetry..", "io.prometheus.."));
  }

  private void check(ArchRule rule) {
    rule.allowEmptyShould(false).check(production);
  }
}
