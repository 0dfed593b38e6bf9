package io.throttlekit.service.identity;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.throttlekit.envoy.NodeIds;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Subject alternative names of a client's certificate, which are its identity. The subject itself
 * is ignored.
 *
 * @param dns its DNS names
 * @param uris its URIs
 */
public record CertificateNames(List<String> dns, List<String> uris) implements NodeIds {
  // GeneralName types of RFC 5280.
  private static final int DNS_NAME = 2;
  private static final int URI = 6;
  private static final CertificateNames NONE = new CertificateNames(List.of(), List.of());

  /** Returns the names of the client of a call; none without a certificate. */
  static CertificateNames of(Attributes call) {
    SSLSession session = call.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    if (session == null) {
      return NONE;
    }
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate x509 ? of(x509) : NONE;
    } catch (SSLPeerUnverifiedException | CertificateParsingException e) {
      return NONE;
    }
  }

  /** Returns the names of a certificate. */
  public static CertificateNames of(X509Certificate certificate)
      throws CertificateParsingException {
    Collection<List<?>> names = certificate.getSubjectAlternativeNames();
    if (names == null) {
      return NONE;
    }
    List<String> dns = new ArrayList<>();
    List<String> uris = new ArrayList<>();
    for (List<?> kindAndName : names) {
      if (kindAndName.get(0) instanceof Integer kind && kindAndName.get(1) instanceof String name) {
        if (kind == DNS_NAME) {
          dns.add(name);
        } else if (kind == URI) {
          uris.add(name);
        }
      }
    }
    return new CertificateNames(dns, uris);
  }

  /** Returns whether one of the names has one of these identities. */
  boolean carryOneOf(List<Identity> identities) {
    return identities.stream()
        .anyMatch(identity ->
            dns.stream().anyMatch(name -> identity.includes(name, false))
                || uris.stream().anyMatch(name -> identity.includes(name, true)));
  }

  /**
   * Allows each whole name, and node ids that begin with one and a character that none contains: a
   * slash after a DNS name, {@code #} after a URI. So no two certificates with different names
   * allow the same id: {@code edge.mesh.local} allows {@code edge.mesh.local/7}, {@code
   * spiffe://mesh/ns/a} allows {@code spiffe://mesh/ns/a#7} but not the longer {@code
   * spiffe://mesh/ns/a/sa/b}. No id with a dot segment is allowed.
   */
  @Override
  public boolean allow(String nodeId) {
    return dns.stream().anyMatch(name -> is(nodeId, name, '/'))
        || uris.stream().anyMatch(name -> is(nodeId, name, '#'));
  }

  private static boolean is(String nodeId, String name, char separator) {
    return !name.isEmpty()
        && name.indexOf(separator) < 0
        && nodeId.startsWith(name)
        && (nodeId.length() == name.length() || nodeId.charAt(name.length()) == separator)
        && !Identity.hasDotSegment(nodeId);
  }
}
