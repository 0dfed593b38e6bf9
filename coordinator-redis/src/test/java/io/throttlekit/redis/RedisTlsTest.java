package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.junit.jupiter.api.Assumptions.abort;

import io.netty.pkitesting.X509Bundle;
import io.throttlekit.TimeSource;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.net.Authority;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A Redis behind TLS, mostly by a proxy, because not every Redis is built with TLS. */
@RealRedis
class RedisTlsTest {
  private static final Authority OURS = Authority.named("ours");
  private static final Authority OTHER = Authority.named("other");
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final RecordingListener listener = new RecordingListener();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @TempDir Path folder;
  private Path ca;

  @BeforeEach
  void trustOwnAuthority() {
    ca = OURS.writeTo(folder.resolve("ca.pem"));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void decidesWhereTheAuthorityIsTrusted() {
    charges(open(proxy(OURS.issue("localhost"), null), trusting(ca, true)));
  }

  @Test
  void decidesInARedisWithNativeTls() {
    ReservedPort reserved = ReservedPort.take();
    opened.add(reserved);
    int port = reserved.number();
    RedisProcess itself = withTls(port, OURS.issue("localhost"));
    opened.add(itself);
    RedisCounterStore store = open(port, withClientCertificate(OURS.issue("client")));
    Stores.connected(store);
    acquire(store, "a", 2);
    assertThat(left(store, "a")).isEqualTo(3);
    assertThat(itself.command("DBSIZE")).isEqualTo("3");
    RedisCounterStore unknown = open(port, trusting(ca, true));
    await(
        "the reason is reported",
        () -> failure(ask(unknown, "a", 1)).toString().contains("certificate_required"));
  }

  @Test
  void decidesOnSeveralConnectionsToATlsOnlyPort() {
    TcpProxy proxy = proxy(OURS.issue("localhost"), null);
    charges(open(proxy, trusting(ca, true)));
    RedisCounterStore second = Stores.connected(open(proxy, trusting(ca, true)));
    assertThat(left(second, "a")).isEqualTo(3);
    assertThat(proxy.accepted()).isEqualTo(2);
  }

  @Test
  void rejectsACertificateOfAnotherAuthorityWithTheReason() {
    TcpProxy impostor = proxy(OTHER.issue("localhost"), null);
    assertRefused(open(impostor, trusting(ca, true)), "unable to find valid certification path");
    assertRefused(open(impostor, trusting(ca, false)), "unable to find valid certification path");
  }

  @Test
  void withoutAnAuthorityRejectsCertificatesJavaDoesNotTrust() {
    TcpProxy proxy = proxy(OURS.issue("localhost"), null);
    assertRefused(open(proxy, trusting(null, true)), "unable to find valid certification path");
    assertRefused(open(proxy, null), "unable to find valid certification path");
  }

  @Test
  void rejectsACertificateOfAnotherHostUnlessHostsAreNotVerified() {
    TcpProxy elsewhere = proxy(OURS.issue("redis.test"), null);
    assertRefused(open(elsewhere, trusting(ca, true)), "No subject alternative DNS name matching");
    charges(open(elsewhere, trusting(ca, false)));
  }

  @Test
  void presentsItsClientCertificateIfRequested() {
    TcpProxy strict = proxy(OURS.issue("localhost"), OURS);
    charges(open(strict, withClientCertificate(OURS.issue("client"))));
    assertRefused(
        open(strict, withClientCertificate(OTHER.issue("client"))), "certificate_required");
    assertRefused(open(strict, trusting(ca, true)), "certificate_required");
  }

  @Test
  void rereadsItsFilesForEachConnection() {
    TcpProxy proxy = proxy(OURS.issue("localhost"), null);
    RedisCounterStore store = open(proxy, trusting(OTHER.writeTo(ca), true));
    assertRefused(store, "unable to find valid certification path");
    OURS.writeTo(ca);
    charges(store);
  }

  @Test
  void rereadsItsCertificateForEachConnection() {
    TcpProxy strict = proxy(OURS.issue("localhost"), OURS);
    AtomicReference<@Nullable X509Bundle> file = new AtomicReference<>(OTHER.issue("client"));
    RedisSettings.Access.Identity identity =
        () -> {
          X509Bundle client = file.get();
          if (client == null) {
            throw new IOException("there is no file tls.key", new IOException("not found"));
          }
          return entry(client);
        };
    RedisCounterStore store = open(strict, new RedisSettings.Access.Tls(ca, identity, true));
    assertRefused(store, "certificate_required");
    file.set(null);
    assertRefused(store, "there is no file tls.key");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(strict, new RedisSettings.Access.Tls(ca, identity, true)))
        .withMessageEndingWith("there is no file tls.key");
    file.set(OURS.issue("client"));
    charges(store);
  }

  @Test
  void theListenerIsNotifiedOfTheReason() {
    RedisCounterStore store = open(proxy(OTHER.issue("localhost"), null), trusting(ca, true));
    assertRefused(store, "certification path");
    assertThat(listener.reasons).last(STRING).contains("certification path");
  }

  @Test
  void aMissingFileIsReportedAtOnce() {
    TcpProxy proxy = proxy(OURS.issue("localhost"), null);
    Path absent = folder.resolve("absent.pem");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(proxy, trusting(absent, true)))
        .withMessageContaining(absent.toString())
        .withMessageContaining("does not exist");
  }

  @Test
  void aFileThatIsNotACertificateIsReportedAtOnce() throws IOException {
    Files.writeString(ca, "no certificate");
    TcpProxy proxy = proxy(OURS.issue("localhost"), null);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(proxy, trusting(ca, true)))
        .withMessageContaining(ca.toString())
        .withMessageContaining("found no certificates");
  }

  private void charges(RedisCounterStore store) {
    redis.flush();
    Stores.connected(store);
    await("answered", () -> StoreCalls.answers(store));
    acquire(store, "a", 2);
    assertThat(left(store, "a")).isEqualTo(3);
  }

  private void assertRefused(RedisCounterStore store, String why) {
    redis.flush();
    await("failed with the reason", () -> failure(ask(store, "a", 1)).toString().contains(why));
    assertThat(redis.command("DBSIZE")).isEqualTo("0");
  }

  private RedisSettings.Access.Tls trusting(@Nullable Path authority, boolean verifyHost) {
    return new RedisSettings.Access.Tls(authority, null, verifyHost);
  }

  private RedisSettings.Access.Tls withClientCertificate(X509Bundle client) {
    return new RedisSettings.Access.Tls(ca, () -> entry(client), true);
  }

  private static KeyStore.PrivateKeyEntry entry(X509Bundle client) {
    return new KeyStore.PrivateKeyEntry(
        client.getKeyPair().getPrivate(), client.getCertificatePath());
  }

  private TcpProxy proxy(X509Bundle certificate, @Nullable Authority clients) {
    TcpProxy proxy = TcpProxy.to(redis.port(), Authority.listen(certificate, clients));
    opened.add(proxy);
    return proxy;
  }

  private RedisProcess withTls(int port, X509Bundle certificate) {
    try {
      return RedisProcess.start(
          "--tls-port",
          String.valueOf(port),
          "--tls-cert-file",
          Authority.certificate(folder.resolve("server.pem"), certificate).toString(),
          "--tls-key-file",
          Authority.key(folder.resolve("server-key.pem"), certificate).toString(),
          "--tls-ca-cert-file",
          ca.toString());
    } catch (UncheckedIOException e) {
      return abort("this Redis is built without TLS: " + e.getMessage());
    }
  }

  private RedisCounterStore open(TcpProxy proxy, RedisSettings.Access.@Nullable Tls tls) {
    return open(proxy.port(), tls);
  }

  private RedisCounterStore open(int port, RedisSettings.Access.@Nullable Tls tls) {
    RedisCounterStore store =
        RedisCounterStore.connect(
            Stores.longDeadlines("rediss://localhost:" + port).tls(tls).settings(),
            TimeSource.system(),
            listener,
            null);
    opened.add(store);
    return store;
  }
}
