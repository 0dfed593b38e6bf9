package io.throttlekit.service.server;

import io.grpc.netty.GrpcSslContexts;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.AdvancedTlsX509TrustManager.Verification;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.throttlekit.service.config.TlsConfig;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS context of a server, reloaded when its files change.
 *
 * <p>Handshakes that begin after a change use the new certificate; established connections keep
 * theirs. Files that do not fit together change nothing. Connections are closed when the authority
 * that issued their client's certificate is removed. Thread-safe.
 */
final class ServerTls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

  /**
   * Length of each of the three parts of a session ticket key in OpenSSL: name, HMAC and AES keys.
   */
  private static final int TICKET_KEY_BYTES = 16;

  /**
   * Maximum age of a TLS session that a client may resume without presenting its certificate again.
   */
  private static final int SESSION_SECONDS = 300;

  private final TlsConfig config;
  private final AdvancedTlsX509KeyManager keys = new AdvancedTlsX509KeyManager();
  private final @Nullable AdvancedTlsX509TrustManager clients;
  private final ScheduledExecutorService poller =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("tls-files").factory());

  private final Set<Channel> connections;
  private TlsFiles files;
  private boolean changed;
  private volatile @Nullable SslContext context;
  private String complaint = "";

  private ServerTls(TlsConfig config, TlsFiles files, Set<Channel> connections)
      throws GeneralSecurityException, IOException {
    this.config = config;
    this.files = files;
    this.connections = connections;
    this.clients = config.clientCa() == null ? null : trustManager(config.clientSan());
    use(files);
  }

  /**
   * Reads the files and polls them for changes.
   *
   * @param pollInterval between two reads
   * @param connections the open connections of the server
   * @throws ListenException when they are missing, unreadable or do not fit together
   */
  static ServerTls follow(TlsConfig config, Duration pollInterval, Set<Channel> connections) {
    try {
      ServerTls tls = new ServerTls(config, TlsFiles.read(config), connections);
      long nanos = pollInterval.toNanos();
      var _ = tls.poller.scheduleWithFixedDelay(tls::reload, nanos, nanos, TimeUnit.NANOSECONDS);
      return tls;
    } catch (IOException | GeneralSecurityException e) {
      throw new ListenException("cannot serve TLS: " + describe(e), e);
    }
  }

  SslContext context() {
    SslProvider provider = OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
    SslContextBuilder builder =
        GrpcSslContexts.configure(SslContextBuilder.forServer(keys), provider);
    if (clients != null) {
      builder.trustManager(clients).clientAuth(ClientAuth.REQUIRE);
    }
    try {
      SslContext built = builder.build();
      if (clients != null) {
        built.sessionContext().setSessionTimeout(SESSION_SECONDS);
        context = built;
      }
      return built;
    } catch (IOException e) {
      throw new ListenException("cannot serve TLS: " + describe(e), e);
    }
  }

  @Override
  public void close() {
    poller.shutdownNow();
  }

  private void reload() {
    try {
      TlsFiles now = TlsFiles.read(config);
      if (!now.sameAs(files)) {
        use(now);
        files = now;
        LOG.info("the TLS certificate of {} is in use", config.certificate());
        changed = true;
        forgetSessions();
      }
      if (changed) {
        endUntrusted();
      }
      complaint = "";
    } catch (Throwable e) { // an exception would cancel the scheduled polling
      complain(describe(e));
    }
  }

  /** Replaces the session ticket keys: a resumed session would skip the client's certificate. */
  private void forgetSessions() {
    SslContext serving = context;
    // The JDK's sessions cannot be invalidated this way; endUntrusted closes what they resume.
    if (serving != null && serving.sessionContext() instanceof OpenSslSessionContext sessions) {
      byte[] secret = new byte[3 * TICKET_KEY_BYTES];
      new SecureRandom().nextBytes(secret);
      sessions.setTicketKeys(
          new OpenSslSessionTicketKey(
              Arrays.copyOf(secret, TICKET_KEY_BYTES),
              Arrays.copyOfRange(secret, TICKET_KEY_BYTES, 2 * TICKET_KEY_BYTES),
              Arrays.copyOfRange(secret, 2 * TICKET_KEY_BYTES, 3 * TICKET_KEY_BYTES)));
    }
  }

  /**
   * Closes connections whose clients are no longer trusted. Runs at every poll after the first
   * change: a handshake verified just before the change may complete just after it, and the JDK's
   * TLS may resume an older session.
   */
  private void endUntrusted() {
    int ended = 0;
    for (Channel connection : connections) {
      SslHandler tls = connection.pipeline().get(SslHandler.class);
      if (clients != null && tls != null && !isTrusted(tls)) {
        // From the head of the pipeline: a close through HTTP/2 waits for open calls, without a
        // limit.
        var _ = connection.pipeline().firstContext().close();
        ended++;
      }
    }
    if (ended > 0) {
      LOG.warn(
          "{} connections ended: {} no longer trusts their certificates", ended, config.clientCa());
    }
  }

  /** Returns true during a handshake, which will be verified against the current trust anyway. */
  private boolean isTrusted(SslHandler tls) {
    try {
      Certificate[] chain = tls.engine().getSession().getPeerCertificates();
      return files.trusts(Arrays.copyOf(chain, chain.length, X509Certificate[].class));
    } catch (SSLPeerUnverifiedException e) {
      return true;
    }
  }

  /** Logs a reason once, not at every poll. */
  private void complain(String reason) {
    if (!reason.equals(complaint)) {
      LOG.error("the TLS files do not fit, the previous ones stay in use: {}", reason);
      complaint = reason;
    }
  }

  private void use(TlsFiles files) throws GeneralSecurityException, IOException {
    if (clients != null) {
      clients.updateTrustCredentials(files.clientAuthorities());
    }
    keys.updateIdentityCredentials(files.chain(), files.key());
  }

  private static AdvancedTlsX509TrustManager trustManager(@Nullable String san)
      throws GeneralSecurityException {
    var builder =
        AdvancedTlsX509TrustManager.newBuilder()
            .setVerification(Verification.CERTIFICATE_ONLY_VERIFICATION);
    if (san != null && !san.isEmpty()) {
      builder.setSslSocketAndEnginePeerVerifier(new ClientName(san));
    }
    return builder.build();
  }

  /** Returns the message, or the class name of an exception without one. */
  private static String describe(Throwable e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
