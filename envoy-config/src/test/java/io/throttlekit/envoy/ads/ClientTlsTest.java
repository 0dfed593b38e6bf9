package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.throttlekit.testkit.net.Authority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections to a control plane that requires TLS 1.3 and a certificate, as Envoy Gateway's. */
class ClientTlsTest {
  private static final String SERVER_NAME = "envoy-gateway";

  private final Authority authority = Authority.named("authority");
  private final Authority otherAuthority = Authority.named("other");
  private final FakeControlPlane controlPlane = new FakeControlPlane();
  private @Nullable Server server;
  private @Nullable Connected connected;

  @TempDir Path folder;

  @BeforeEach
  void serve() {
    server = Connected.serve(controlPlane.bindService(), serverTls());
    authority.writeTo(folder.resolve("ca.crt"));
    issueFrom(authority);
  }

  @AfterEach
  void close() {
    if (connected != null) {
      connected.close();
    }
    if (server != null) {
      server.shutdownNow();
    }
  }

  @Test
  void connectsWithACertificateUnderTheNameThatIsSet() {
    assertThat(connection(SERVER_NAME)).isEqualTo(Connected.CONNECTED);
    await().until(() -> controlPlane.requests().size() == 1);
  }

  @Test
  void aServerOfAnotherNameIsRejected() {
    assertThat(connection("other.test")).startsWith("UNAVAILABLE: ").contains("other.test");
    assertThat(controlPlane.requests()).isEmpty();
  }

  @Test
  void aServerOfAnotherAuthorityIsRejected() {
    otherAuthority.writeTo(folder.resolve("ca.crt"));
    assertThat(connection(SERVER_NAME)).startsWith("UNAVAILABLE: ").contains("certification path");
  }

  @Test
  void rotatedFilesAreReadForTheNextConnection() {
    issueFrom(otherAuthority); // the server does not trust it
    assertThat(connection(SERVER_NAME)).startsWith("UNAVAILABLE: ");
    issueFrom(authority);
    connected().time.pass(Duration.ofSeconds(3));
    assertThat(connected().awaitConnection(1)).isEqualTo(Connected.CONNECTED);
  }

  @Test
  void filesThatAreReplacedOneAfterTheOtherAreReadAgainLater() {
    Authority.key(folder.resolve("tls.key"), authority.issue("new"));
    assertThat(connection(SERVER_NAME))
        .isEqualTo(
            "the key in %s is not that of the certificate in %s",
            folder.resolve("tls.key"), folder.resolve("tls.crt"));
    issueFrom(authority);
    connected().time.pass(Duration.ofSeconds(3));
    assertThat(connected().awaitConnection(1)).isEqualTo(Connected.CONNECTED);
  }

  @Test
  void missingFilesAreNamedTogether() throws IOException {
    Files.delete(folder.resolve("tls.crt"));
    Files.delete(folder.resolve("ca.crt"));
    assertThat(connection(SERVER_NAME))
        .startsWith("there are no files ")
        .contains("tls.crt, ")
        .contains("ca.crt");
  }

  @Test
  void aCertificateNeedsItsKey() {
    assertThatThrownBy(() -> new ClientTls(folder.resolve("tls.crt"), null, null, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("together");
  }

  /** Connects, and returns the first result. */
  private String connection(String name) {
    ClientTls tls =
        new ClientTls(
            folder.resolve("tls.crt"), folder.resolve("tls.key"), folder.resolve("ca.crt"), name);
    connected = new Connected(server == null ? 0 : server.getPort(), tls);
    return connected.awaitConnection(0);
  }

  private Connected connected() {
    if (connected == null) {
      throw new AssertionError("not connected yet");
    }
    return connected;
  }

  private void issueFrom(Authority issuer) {
    var issued = issuer.issue("client");
    Authority.certificate(folder.resolve("tls.crt"), issued);
    Authority.key(folder.resolve("tls.key"), issued);
  }

  private SslContext serverTls() {
    var issued = authority.issue(SERVER_NAME);
    try {
      return GrpcSslContexts.configure(
              SslContextBuilder.forServer(
                  issued.getKeyPair().getPrivate(), issued.getCertificatePath()))
          .trustManager(authority.writeTo(folder.resolve("clients.crt")).toFile())
          .clientAuth(ClientAuth.REQUIRE)
          .protocols("TLSv1.3")
          .build();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
