package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FederationSettingsTest {
  private static final StoreAddress REDIS =
      new StoreAddress.Standalone(false, new StoreAddress.Node("r", 6379), 0);

  @TempDir private Path folder;

  private final Map<String, String> environment = new HashMap<>();

  @Test
  void isDisabledUnlessConfigured() {
    assertThat(load(flags(null, null)).errors()).isEmpty();
    assertThat(load(flags("", "")).errors()).isEmpty();
    assertThat(Objects.requireNonNull(load(flags("", "")).config()).federation()).isNull();
    set("DEADLINE", "1s");
    assertThat(load(flags(null, null)).config()).isNotNull();
  }

  @Test
  void aRegionAndACoordinatorAreEnough() {
    assertThat(federation(flags("eu", "memory")))
        .isEqualTo(
            new FederationConfig(
                "eu",
                new StoreAddress.Memory(),
                StoreAccess.open(),
                "throttlekit:",
                Duration.ofSeconds(2),
                Duration.ofSeconds(5),
                2));
  }

  @Test
  void everySettingIsReadFromTheFile() throws IOException {
    String file =
        file(
            """
            federation:
              region: eu
              coordinator: "rediss-sentinel://a/1#main"
              user: me
              password: pw
              sentinel_user: you
              sentinel_password: pw2
              tls: {ca: ca.pem, certificate: c.pem, key: k.pem, verify_host: false}
              key_prefix: "tk:"
              deadline: 1s
              probe_after: 10ms
              regional_leases: 1
            """);
    StoreAccess.StoreTls tls =
        new StoreAccess.StoreTls(
            Path.of("ca.pem"),
            new StoreAccess.ClientCertificate(Path.of("c.pem"), Path.of("k.pem")),
            false);
    assertThat(federation(flagsWithFile(file)))
        .isEqualTo(
            new FederationConfig(
                "eu",
                new StoreAddress.Sentinel(
                    true, List.of(new StoreAddress.Node("a", 26379)), "main", 1),
                new StoreAccess(new Login("me", "pw"), new Login("you", "pw2"), tls),
                "tk:",
                Duration.ofSeconds(1),
                Duration.ofMillis(10),
                1));
  }

  @Test
  void theCommandLineOverridesTheEnvironmentAndThatTheFile() throws IOException {
    String file = file("federation: {region: a, coordinator: memory, deadline: 1s}");
    assertThat(federation(flagsWithFile(file)).region()).isEqualTo("a");
    set("REGION", "b");
    set("COORDINATOR", "redis://r");
    assertThat(federation(flagsWithFile(file)))
        .extracting(FederationConfig::region, FederationConfig::coordinator)
        .containsExactly("b", REDIS);
    Map<String, List<String>> flags =
        Options.of(
            "--policies",
            "p",
            "--config",
            file,
            "--region",
            "c",
            "--coordinator",
            "redis-cluster://r");
    assertThat(federation(flags))
        .extracting(FederationConfig::region, FederationConfig::deadline)
        .containsExactly("c", Duration.ofSeconds(1));
    assertThat(federation(flags).coordinator())
        .isEqualTo(new StoreAddress.Cluster(false, List.of(new StoreAddress.Node("r", 6379))));
  }

  @Test
  void aKeyPrefixWithBracesIsRejected() throws IOException {
    String file = file("federation: {region: a, coordinator: memory, key_prefix: '{tk}:'}");
    assertThat(load(flagsWithFile(file)).errors())
        .singleElement()
        .asString()
        .contains("{tk}:", "without blanks and braces");
  }

  @Test
  void regionAndCoordinatorRequireEachOther() throws IOException {
    String region =
        "a region needs a coordinator to share limits with others: --coordinator or"
            + " federation.coordinator";
    String coordinator =
        "a coordinator needs the name of the region: --region or federation.region";
    assertThat(load(flags("eu", null)).errors()).containsExactly("--region: " + region);
    assertThat(load(flags(null, "memory")).errors())
        .containsExactly("--coordinator: " + coordinator);
    assertThat(load(flags("", "redis://r")).errors())
        .containsExactly("--coordinator: " + coordinator);
    String file = file("federation:\n  region: eu\n");
    assertThat(load(flagsWithFile(file)).errors()).containsExactly(file + ":2:11: " + region);
    set("COORDINATOR", "redis://r");
    assertThat(load(flags(null, null)).errors())
        .containsExactly("env THROTTLEKIT_FEDERATION_COORDINATOR: " + coordinator);
  }

  @Test
  void aMalformedValueIsNotReportedAsMissing() {
    assertThat(load(flags("eu", "rdis://r")).errors())
        .singleElement()
        .asString()
        .startsWith(
            "--coordinator: \"rdis://r\": there is no store of that scheme (did you mean redis?);");
    assertThat(load(flags("e u", "memory")).errors())
        .containsExactly(
            "--region: \"e u\" is not the name of a region (1 to 64 letters, digits, hyphens,"
                + " underscores and dots)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "0", "EU-west_1.a", "..", "true", "null"})
  void plainNamesOfARegionRoundTrip(String region) throws IOException {
    for (String name : List.of(region, region.repeat(64).substring(0, 64))) {
      LoadedConfig loaded = load(flags(name, "memory"));
      assertThat(federation(flagsWithFile(file(loaded.yaml()))).region()).isEqualTo(name);
    }
  }

  @Test
  void otherNamesOfARegionAreRejected() {
    for (String name : List.of(" ", "a b", "a/b", "a:b", "{a}", "ä", "a\n", "a".repeat(65))) {
      assertThat(load(flags(name, "memory")).errors()).as(name).hasSize(1);
    }
  }

  @Test
  void theCoordinatorHasTheAccessSettingsOfAStore() {
    environment.put("THROTTLEKIT_STORE_URI", "redis://s");
    environment.put("THROTTLEKIT_STORE_PASSWORD", "of the store");
    assertThat(federation(flags("eu", "redis://r")).access()).isEqualTo(StoreAccess.open());
    assertThat(federation(flags("eu", "redis://me:pw@r")).access().login())
        .isEqualTo(new Login("me", "pw"));
    set("PASSWORD", "own");
    assertThat(federation(flags("eu", "redis://me:pw@r")).access().login())
        .isEqualTo(new Login("", "own"));
    assertThat(federation(flags("eu", "postgresql://me@db/x")).access().login())
        .isEqualTo(new Login("me", "own"));
    set("TLS_KEY", "k.pem");
    assertThat(load(flags("eu", "redis://r")).errors())
        .containsExactly(
            "env THROTTLEKIT_FEDERATION_TLS_KEY: federation.tls.key needs"
                + " federation.tls.certificate");
    set("TLS_CERTIFICATE", "c.pem");
    assertThat(load(flags("eu", "redis://r")).warnings())
        .contains(
            "federation.tls.key (env THROTTLEKIT_FEDERATION_TLS_KEY) has no effect: redis://r:6379"
                + " does not use TLS");
  }

  @Test
  void noPasswordIsEverShown() {
    set("PASSWORD", "s3cr3t");
    for (String uri :
        List.of("redis://me:s3cr3t@r", "redis://me:s3cr3t@r:x", "postgresql://s3cr3t@a")) {
      LoadedConfig loaded = load(flags("eu", uri));
      assertThat(loaded.yaml() + loaded.errors() + loaded.warnings() + loaded.config())
          .as(uri)
          .doesNotContain("s3cr3t");
    }
  }

  @Test
  void rangesAreChecked() {
    set("REGIONAL_LEASES", "0");
    set("DEADLINE", "0s");
    set("PROBE_AFTER", "1ms");
    assertThat(load(flags("eu", "memory")).errors())
        .containsExactlyInAnyOrder(
            "env THROTTLEKIT_FEDERATION_REGIONAL_LEASES: \"0\" is not a whole number from 1 to"
                + " 1000000",
            "env THROTTLEKIT_FEDERATION_DEADLINE: \"0s\" is not a duration from 1ms to 1m, such as"
                + " 500ms, 10s or 1h30m",
            "env THROTTLEKIT_FEDERATION_PROBE_AFTER: \"1ms\" is not a duration from 10ms to 1h,"
                + " such as 500ms, 10s or 1h30m");
  }

  private void set(String setting, String value) {
    environment.put("THROTTLEKIT_FEDERATION_" + setting, value);
  }

  private String file(String text) throws IOException {
    return Files.writeString(folder.resolve("c.yaml"), text).toString();
  }

  private FederationConfig federation(Map<String, List<String>> flags) {
    LoadedConfig loaded = load(flags);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(Objects.requireNonNull(loaded.config()).federation());
  }

  private LoadedConfig load(Map<String, List<String>> flags) {
    return new ConfigLoader(environment).load(flags);
  }

  private static Map<String, List<String>> flags(
      @Nullable String region, @Nullable String coordinator) {
    return Options.of("--policies", "p", "--region", region, "--coordinator", coordinator);
  }

  private static Map<String, List<String>> flagsWithFile(String file) {
    return Options.of("--policies", "p", "--config", file);
  }
}
