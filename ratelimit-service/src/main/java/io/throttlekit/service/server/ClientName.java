package io.throttlekit.service.server;

import io.grpc.util.AdvancedTlsX509TrustManager.SslSocketAndEnginePeerVerifier;
import io.throttlekit.service.identity.CertificateNames;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Accepts only clients whose certificate carries a DNS name or URI. */
record ClientName(String name) implements SslSocketAndEnginePeerVerifier {
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
    CertificateNames names = CertificateNames.of(certificate);
    if (!names.dns().contains(name) && !names.uris().contains(name)) {
      throw new CertificateException("the client's certificate does not carry " + name);
    }
  }
}
