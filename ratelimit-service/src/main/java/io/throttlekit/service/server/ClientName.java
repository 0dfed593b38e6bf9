package io.throttlekit.service.server;

import io.grpc.util.AdvancedTlsX509TrustManager.SslSocketAndEnginePeerVerifier;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Accepts only clients whose certificate carries a DNS name or URI. */
record ClientName(String name) implements SslSocketAndEnginePeerVerifier {
  /**
   * The kinds of subject alternative names that are compared: dNSName and
   * uniformResourceIdentifier.
   */
  private static final Set<Object> KINDS = Set.of(2, 6);

  @Override
  public void verifyPeerCertificate(
      X509Certificate[] chain, String authType, @Nullable Socket socket)
      throws CertificateException {
    verify(chain[0]);
  }

  @Override
  public void verifyPeerCertificate(
      X509Certificate[] chain, String authType, @Nullable SSLEngine engine)
      throws CertificateException {
    verify(chain[0]);
  }

  private void verify(X509Certificate certificate) throws CertificateException {
    Collection<List<?>> names = certificate.getSubjectAlternativeNames();
    if (names != null) {
      for (List<?> kindAndName : names) {
        if (KINDS.contains(kindAndName.get(0)) && name.equals(kindAndName.get(1))) {
          return;
        }
      }
    }
    throw new CertificateException("the client's certificate does not carry " + name);
  }
}
