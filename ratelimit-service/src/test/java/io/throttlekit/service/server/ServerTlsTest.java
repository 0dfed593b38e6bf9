package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.TlsConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerTlsTest {
  private final X509Bundle authority = authority("CN=first");
  private final X509Bundle otherAuthority = authority("CN=second");
  private @Nullable GrpcServer server;

  @TempDir Path folder;

  @BeforeEach
  void writeCertificate() throws IOException {
    write(issued(authority, "ratelimit.test"));
    Files.writeString(folder.resolve("ca.pem"), authority.getCertificatePEM());
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop();
    }
  }

  @Test
  void clientsThatTrustTheCertificateAreServed() throws IOException {
    serve(null, null);
    assertThat(callService(authority, null)).isEqualTo(Code.OK);
    assertThatThrownBy(() -> callService(otherAuthority, null))
        .isInstanceOf(StatusRuntimeException.class);
  }

  @Test
  void withAClientAuthorityOnlyItsClientsAreServed() throws IOException {
    serve("ca.pem", null);
    assertThat(callService(authority, issued(authority, "envoy.test"))).isEqualTo(Code.OK);
    assertThatThrownBy(() -> callService(authority, null))
        .isInstanceOf(StatusRuntimeException.class);
    assertThatThrownBy(() -> callService(authority, issued(otherAuthority, "envoy.test")))
        .isInstanceOf(StatusRuntimeException.class);
  }

  @Test
  void withAClientNameOnlyCertificatesOfThatNameAreServed() throws IOException {
    serve("ca.pem", "envoy.test");
    assertThat(callService(authority, issued(authority, "envoy.test"))).isEqualTo(Code.OK);
    assertThatThrownBy(() -> callService(authority, issued(authority, "other.test")))
        .isInstanceOf(StatusRuntimeException.class);
  }

  @Test
  void newHandshakesUseARenewedCertificateAndOldConnectionsStay() throws IOException {
    GrpcServer serving = serve(null, null);
    ManagedChannel before = Channels.tls(serving, authority, null);
    assertThat(callService(before)).isEqualTo(Code.OK);
    write(issued(otherAuthority, "ratelimit.test"));
    await().ignoreExceptions().until(() -> callService(otherAuthority, null) == Code.OK);
    assertThatThrownBy(() -> callService(authority, null))
        .isInstanceOf(StatusRuntimeException.class);
    assertThat(callService(before)).isEqualTo(Code.OK);
    before.shutdownNow();
  }

  @Test
  void connectionsEndWhenTheirAuthorityIsRemoved() throws IOException {
    Files.writeString(
        folder.resolve("ca.pem"),
        authority.getCertificatePEM() + otherAuthority.getCertificatePEM());
    GrpcServer serving = serve("ca.pem", null);
    ManagedChannel removed =
        Channels.tls(serving, authority, issued(otherAuthority, "removed.test"));
    ManagedChannel kept = Channels.tls(serving, authority, issued(authority, "kept.test"));
    LastingCall ofRemoved = LastingCall.watch(removed);
    LastingCall ofKept = LastingCall.watch(kept);
    await().until(() -> ofRemoved.answers.get() == 1 && ofKept.answers.get() == 1);
    Files.writeString(folder.resolve("ca.pem"), authority.getCertificatePEM());
    await().until(ofRemoved.ended::get);
    assertThatThrownBy(() -> callService(removed)).isInstanceOf(StatusRuntimeException.class);
    assertThat(ofKept.ended).isFalse();
    assertThat(callService(kept)).isEqualTo(Code.OK);
    removed.shutdownNow();
    kept.shutdownNow();
  }

  /** A call that lasts until its connection ends. */
  private static final class LastingCall implements StreamObserver<HealthCheckResponse> {
    final AtomicInteger answers = new AtomicInteger();
    final AtomicBoolean ended = new AtomicBoolean();

    static LastingCall watch(ManagedChannel channel) {
      LastingCall lasting = new LastingCall();
      HealthGrpc.newStub(channel).watch(HealthCheckRequest.getDefaultInstance(), lasting);
      return lasting;
    }

    @Override
    public void onNext(HealthCheckResponse answer) {
      answers.incrementAndGet();
    }

    @Override
    public void onError(Throwable cause) {
      ended.set(true);
    }

    @Override
    public void onCompleted() {
      ended.set(true);
    }
  }

  @Test
  void aKeyOfAnotherCertificateIsIgnored() throws IOException {
    TlsConfig config = config(null, null);
    TlsFiles good = read(config);
    Files.writeString(
        folder.resolve("key.pem"), issued(otherAuthority, "ratelimit.test").getPrivateKeyPEM());
    assertThatThrownBy(() -> TlsFiles.read(config))
        .hasMessage(
            "the key in %s is not that of the certificate in %s"
                .formatted(folder.resolve("key.pem"), folder.resolve("cert.pem")));
    assertThat(good.sameAs(good)).isTrue();
  }

  @Test
  void invalidFilesKeepTheOldCertificateUntilValidOnesExist() throws IOException {
    serve(null, null);
    Files.writeString(folder.resolve("cert.pem"), "no certificate");
    await().during(Duration.ofMillis(300)).until(() -> callService(authority, null) == Code.OK);
    write(issued(otherAuthority, "ratelimit.test"));
    await().ignoreExceptions().until(() -> callService(otherAuthority, null) == Code.OK);
  }

  @Test
  void missingFilesAreNamedAtTheStart() {
    TlsConfig config =
        new TlsConfig(folder.resolve("absent.pem"), folder.resolve("key.pem"), null, null);
    assertThatThrownBy(() -> ServerTls.follow(config, Duration.ofSeconds(1), Set.of()))
        .isInstanceOf(ListenException.class)
        .hasMessage("cannot serve TLS: there is no file " + folder.resolve("absent.pem"));
    Path none = folder.resolve("none");
    TlsConfig wrongFolder = new TlsConfig(none.resolve("a"), none.resolve("b"), null, null);
    assertThatThrownBy(() -> ServerTls.follow(wrongFolder, Duration.ofSeconds(1), Set.of()))
        .hasMessage("cannot serve TLS: there are no files %s/a, %s/b".formatted(none, none));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cert.pem | nonsense                     | holds no certificate",
        "cert.pem | -----BEGIN CERTIFICATE-----x | a certificate in FILE is damaged",
        "ca.pem   | ''                           | holds no certificate",
        "key.pem  | nonsense                     | holds no private key",
        "key.pem  | -----BEGIN PRIVATE KEY-----x | the private key in FILE is damaged",
        "key.pem  | -----BEGIN RSA PRIVATE KEY----- | the private key in FILE is damaged",
        "key.pem  | -----BEGIN ENCRYPTED PRIVATE KEY----- | an encrypted private key",
      })
  void anInvalidFileIsNamedWithTheReason(String name, String text, String why) throws IOException {
    Path file = Files.writeString(folder.resolve(name), text);
    assertThatThrownBy(
            () -> ServerTls.follow(config("ca.pem", null), Duration.ofSeconds(1), Set.of()))
        .isInstanceOf(ListenException.class)
        .hasMessageStartingWith("cannot serve TLS: ")
        .hasMessageContaining(why.replace("FILE", file.toString()))
        .hasMessageContaining(file.toString())
        .message()
        .doesNotContain("Exception");
  }

  @Test
  void aFolderInPlaceOfAFileIsNamed() throws IOException {
    Path there = Files.createDirectory(folder.resolve("there"));
    TlsConfig config = new TlsConfig(there, folder.resolve("key.pem"), null, null);
    assertThatThrownBy(() -> TlsFiles.read(config))
        .hasMessage(there + " cannot be read: it is a folder");
  }

  @Test
  void aServerThatFailsToStartStopsWatchingItsFiles() {
    GrpcConfig good = Setup.listener(null, config(null, null), Duration.ZERO, Duration.ZERO);
    GrpcConfig bad =
        new GrpcConfig(
            good.host(),
            good.port(),
            null,
            good.tls(),
            good.connectionAge(),
            new GrpcConfig.KeepAlive(Duration.ZERO, Duration.ZERO, Duration.ofSeconds(-1)),
            good.limits(),
            1,
            good.drain(),
            false);
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    long before = followers();
    assertThatThrownBy(() -> setup.serve(bad)).isInstanceOf(IllegalArgumentException.class);
    await().until(() -> followers() <= before);
  }

  private static long followers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("tls-files"))
        .count();
  }

  private GrpcServer serve(@Nullable String clientCa, @Nullable String clientSan) {
    GrpcServer started =
        new Setup(Book.X, Setup.NATIVE, Setup.BARE)
            .serve(
                Setup.listener(
                    null, config(clientCa, clientSan), Duration.ofSeconds(5), Duration.ZERO));
    server = started;
    return started;
  }

  private TlsConfig config(@Nullable String clientCa, @Nullable String clientSan) {
    return new TlsConfig(
        folder.resolve("cert.pem"),
        folder.resolve("key.pem"),
        clientCa == null ? null : folder.resolve(clientCa),
        clientSan);
  }

  private Code callService(X509Bundle trusted, @Nullable X509Bundle identity) throws IOException {
    ManagedChannel channel =
        Channels.tls(java.util.Objects.requireNonNull(server), trusted, identity);
    try {
      return callService(channel);
    } finally {
      channel.shutdownNow();
    }
  }

  private static Code callService(ManagedChannel channel) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(x(entries("hundred", "a")))
        .getOverallCode();
  }

  private void write(X509Bundle certificate) throws IOException {
    Files.writeString(folder.resolve("cert.pem"), certificate.getCertificatePathPEM());
    Files.writeString(folder.resolve("key.pem"), certificate.getPrivateKeyPEM());
  }

  private static TlsFiles read(TlsConfig config) {
    try {
      return TlsFiles.read(config);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static X509Bundle authority(String subject) {
    try {
      return new CertificateBuilder()
          .subject(subject)
          .setIsCertificateAuthority(true)
          .ecp256()
          .buildSelfSigned();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static X509Bundle issued(X509Bundle issuer, String name) {
    try {
      return new CertificateBuilder()
          .subject("CN=" + name)
          .addSanDnsName(name)
          .ecp256()
          .buildIssuedBy(issuer);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
