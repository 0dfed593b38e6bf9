package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.net.Authority;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The certificate that a store on Redis receives. */
class StoreIdentityTest {
  private static final Authority OURS = Authority.named("ours");

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          1, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  private final Backends backends =
      new Backends(
          TimeSource.system(),
          loops,
          (nanos, task) -> {
            var _ = loops.schedule(task, nanos, TimeUnit.NANOSECONDS);
          });

  @TempDir Path folder;

  @AfterEach
  void stop() {
    var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void isThatOfTheConfiguredFiles() throws Exception {
    X509Bundle client = OURS.issue("client");
    Authority.certificate(folder.resolve("tls.crt"), client);
    Authority.key(folder.resolve("tls.key"), client);
    try (ServerSocket server = Authority.listen(OURS.issue("localhost"), OURS);
        var _ = Objects.requireNonNull(backends.releases(to(server), StoreListener.NONE)).api()) {
      server.setSoTimeout(300_000); // fails rather than waits without end
      try (SSLSocket accepted = (SSLSocket) server.accept()) {
        accepted.startHandshake();
        assertThat(accepted.getSession().getPeerCertificates()).contains(client.getCertificate());
      }
    }
  }

  @Test
  void aFaultyKeyIsNamedAtTheStart() throws Exception {
    Authority.certificate(folder.resolve("tls.crt"), OURS.issue("client"));
    Path key = Files.writeString(folder.resolve("tls.key"), "-----BEGIN RSA PRIVATE KEY-----");
    try (ServerSocket server = Authority.listen(OURS.issue("localhost"), OURS)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> backends.releases(to(server), StoreListener.NONE))
          .withMessageEndingWith(
              "the private key in " + key + " is damaged, or of an unknown kind");
    }
  }

  private StoreConfig to(ServerSocket server) {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_STORE_URI",
            "rediss://localhost:" + server.getLocalPort(),
            "THROTTLEKIT_STORE_CONNECT_TIMEOUT",
            "1m",
            "THROTTLEKIT_STORE_TLS_CA",
            OURS.writeTo(folder.resolve("ca.pem")).toString(),
            "THROTTLEKIT_STORE_TLS_CERTIFICATE",
            folder.resolve("tls.crt").toString(),
            "THROTTLEKIT_STORE_TLS_KEY",
            folder.resolve("tls.key").toString());
    return Objects.requireNonNull(
            new ConfigLoader(environment).load(Map.of("--policies", List.of("p"))).config())
        .store();
  }
}
