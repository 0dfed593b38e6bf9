package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallCommandTest {
  private static final String POLICY =
      """
      domain: shop
      descriptors:
        - {key: user, rate_limit: {every: 10s, requests_per_unit: 5}}
        - {key: upstream, concurrency: {max: 4}}
      """;

  @TempDir private Path folder;
  private Path policies = Path.of("");

  @BeforeEach
  void writePolicies() throws IOException {
    policies = Files.writeString(folder.resolve("policy.yaml"), POLICY);
  }

  @Test
  void namesTheWindowOfARule() {
    RateLimitService service = start(Map.of());
    try {
      CommandResult ran =
          run("call", service.grpcAddress(), "--domain", "shop", "user=bob", "upstream=a");
      assertThat(ran.code()).isZero();
      assertThat(ran.out())
          .contains("  user=bob: OK, 4 left, limit 5 per 10s, resets in ")
          .containsPattern("  upstream=a: OK, \\d+ left, limit \\d+ in flight, or per a window ");
      assertThat(ran.err()).isEmpty();
    } finally {
      service.stop();
    }
  }

  @Test
  void warnsOfADomainThatTheServiceDoesNotKnow() {
    RateLimitService service = start(Map.of());
    try {
      CommandResult ran = run("call", service.grpcAddress(), "--domain", "shpo", "a=b", "c=d");
      assertThat(ran.code()).isZero();
      assertThat(ran.err())
          .isEqualTo(
              "warning: the service has no policies for the domain `shpo`, so that nothing limits"
                  + " its requests\n");
      CommandResult noRule = run("call", service.grpcAddress(), "--domain", "shop", "a=b");
      assertThat(noRule.err()).isEmpty();
    } finally {
      service.stop();
    }
    CommandResult explained =
        run("explain", "--policies", policies.toString(), "--domain", "shpo", "a=b");
    assertThat(explained.code()).isZero();
    assertThat(explained.err())
        .isEqualTo(
            "warning: no policy has the domain `shpo`, so that nothing limits its requests"
                + " (domains: shop)\n");
  }

  @Test
  void speaksTlsWithACertificateOfItsOwn() throws Exception {
    X509Bundle authority =
        new CertificateBuilder()
            .subject("CN=authority")
            .setIsCertificateAuthority(true)
            .ecp256()
            .buildSelfSigned();
    String ca = write("ca.pem", authority.getCertificatePathPEM());
    X509Bundle ours = issued(authority, "throttlekit.shop");
    X509Bundle client = issued(authority, "envoy.shop");
    String cert = write("client.pem", client.getCertificatePathPEM());
    String key = write("client.key", client.getPrivateKeyPEM());
    RateLimitService service =
        start(
            Map.of(
                "THROTTLEKIT_GRPC_TLS_CERTIFICATE", write("ours.pem", ours.getCertificatePathPEM()),
                "THROTTLEKIT_GRPC_TLS_KEY", write("ours.key", ours.getPrivateKeyPEM()),
                "THROTTLEKIT_GRPC_TLS_CLIENT_CA", ca));
    try {
      String at = service.grpcAddress();
      String[] good = {
        "call",
        at,
        "--domain",
        "shop",
        "--ca",
        ca,
        "--cert",
        cert,
        "--key",
        key,
        "--server-name",
        "throttlekit.shop",
        "user=bob"
      };
      assertThat(run(good).out()).startsWith("OK: the request may pass\n  user=bob: OK, 4 left");
      good[11] = "other.shop";
      assertFails(run(good), "other.shop found. --server-name sets the name to expect.");
      assertFails(
          run("call", at, "--domain", "shop", "--tls", "--server-name", "throttlekit.shop", "a=b"),
          "; --ca names the certificates to trust");
      assertFails(
          run(
              "call",
              at,
              "--domain",
              "shop",
              "--ca",
              ca,
              "--server-name",
              "throttlekit.shop",
              "a=b"),
          "no answer from " + at + ": it requires a certificate of the client: --cert and --key");
      assertFails(run("call", at, "--domain", "shop", "a=b"), "does it require TLS (--tls)?");
    } finally {
      service.stop();
    }
  }

  @Test
  void aTlsFileThatCannotBeUsedIsAUsageError() throws IOException {
    String no = write("no.pem", "nothing");
    assertUsage("--cert and --key go together", "--cert", no);
    assertUsage("there is no file " + folder + "/none", "--ca", folder + "/none");
    assertUsage(no + " holds no certificate", "--ca", no);
    assertUsage(no + " holds no certificate", "--cert", no, "--key", no);
  }

  private static void assertFails(CommandResult ran, String reason) {
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).startsWith("error: ").contains(reason).hasLineCount(1);
  }

  private static void assertUsage(String mistake, String... tls) {
    String[] line = new String[5 + tls.length];
    String[] rest = {"call", "127.0.0.1:1", "--domain", "shop", "a=b"};
    System.arraycopy(rest, 0, line, 0, rest.length);
    System.arraycopy(tls, 0, line, rest.length, tls.length);
    CommandResult ran = run(line);
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err()).startsWith("error: " + mistake);
  }

  private String write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private static X509Bundle issued(X509Bundle authority, String name) throws Exception {
    return new CertificateBuilder()
        .subject("CN=" + name)
        .addSanDnsName(name)
        .ecp256()
        .buildIssuedBy(authority);
  }

  private RateLimitService start(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("THROTTLEKIT_POLICIES_PATHS", policies.toString());
    environment.put("THROTTLEKIT_GRPC_HOST", "127.0.0.1");
    environment.put("THROTTLEKIT_HTTP_HOST", "127.0.0.1");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    return RunningService.with(
        environment, Options.of("--grpc-port", "0", "--http-port", "0", "--debug-port", "0"));
  }
}
