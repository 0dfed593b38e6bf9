package io.throttlekit.testkit.net;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import org.jspecify.annotations.Nullable;

/** A certificate authority for tests, and servers with its certificates. */
public final class Authority {
  private final X509Bundle self;

  private Authority(X509Bundle self) {
    this.self = self;
  }

  /** Creates an authority that no client trusts yet. */
  public static Authority named(String name) {
    try {
      return new Authority(
          new CertificateBuilder()
              .subject("CN=" + name)
              .setIsCertificateAuthority(true)
              .ecp256()
              .buildSelfSigned());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Issues a certificate with its key for a host, by name or IPv4 address. */
  public X509Bundle issue(String host) {
    try {
      CertificateBuilder certificate = new CertificateBuilder().subject("CN=" + host).ecp256();
      boolean isAddress = NetUtil.isValidIpV4Address(host);
      return (isAddress ? certificate.addSanIpAddress(host) : certificate.addSanDnsName(host))
          .buildIssuedBy(self);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Writes the certificate for clients that trust this authority; returns the file. */
  public Path writeTo(Path file) {
    return write(file, self.getCertificatePEM());
  }

  /** Writes a host's certificate; returns the file. */
  public static Path certificate(Path file, X509Bundle issued) {
    return write(file, issued.getCertificatePathPEM());
  }

  /** Writes the key of a certificate; returns the file. */
  public static Path key(Path file, X509Bundle issued) {
    return write(file, issued.getPrivateKeyPEM());
  }

  /**
   * Listens with TLS on a free port of the loopback interface.
   *
   * @param certificate of the server
   * @param clients the authority that client certificates must be issued by; absent to require none
   */
  public static ServerSocket listen(X509Bundle certificate, @Nullable Authority clients) {
    try {
      SSLContext tls = SSLContext.getInstance("TLS");
      tls.init(
          certificate.toKeyManagerFactory().getKeyManagers(),
          clients == null ? null : clients.self.toTrustManagerFactory().getTrustManagers(),
          null);
      SSLServerSocket socket =
          (SSLServerSocket)
              tls.getServerSocketFactory()
                  .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
      socket.setNeedClientAuth(clients != null);
      return socket;
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path write(Path file, String text) {
    try {
      return Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
