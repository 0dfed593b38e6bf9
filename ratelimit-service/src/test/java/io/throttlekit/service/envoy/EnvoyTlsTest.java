package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MeshTest
class EnvoyTlsTest {
  @TempDir Path folder;

  @Test
  void callsTheServiceOverHttp2AndTls() throws Exception {
    X509Bundle certificate = certificate("throttlekit.local");
    Files.writeString(folder.resolve("ca.pem"), certificate.getCertificatePathPEM());
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.TLS, servedWith(certificate))) {
      assertThat(mesh.admitted(5, "/", "x-user", "anna")).isEqualTo(3);
      assertThat(mesh.envoy().admin("/stats?filter=cluster.throttlekit"))
          .containsPattern("cluster\\.throttlekit\\.ssl\\.handshake: [1-9]")
          .containsPattern("cluster\\.throttlekit\\.upstream_cx_http2_total: [1-9]")
          .contains("cluster.throttlekit.upstream_cx_http1_total: 0");
    }
  }

  @Test
  void refusesEverythingWhenTheServiceHasAnotherName() throws Exception {
    X509Bundle certificate = certificate("somebody.else");
    Files.writeString(folder.resolve("ca.pem"), certificate.getCertificatePathPEM());
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.TLS, servedWith(certificate))) {
      assertThat(mesh.status("/", "x-user", "anna")).isEqualTo(500);
      assertThat(mesh.upstream().requests()).isZero();
    }
  }

  private static X509Bundle certificate(String name) throws Exception {
    return new CertificateBuilder()
        .subject("CN=" + name)
        .addSanDnsName(name)
        .setIsCertificateAuthority(true)
        .buildSelfSigned();
  }

  private Changes servedWith(X509Bundle certificate) throws IOException {
    Path chain =
        Files.writeString(folder.resolve("service.pem"), certificate.getCertificatePathPEM());
    Path key = Files.writeString(folder.resolve("service.key"), certificate.getPrivateKeyPEM());
    return Changes.NONE.with(
        Map.of(
            "THROTTLEKIT_GRPC_TLS_CERTIFICATE", chain.toString(),
            "THROTTLEKIT_GRPC_TLS_KEY", key.toString()));
  }
}
