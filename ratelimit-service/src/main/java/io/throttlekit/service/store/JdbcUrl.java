package io.throttlekit.service.store;

import io.throttlekit.envoy.PemFiles;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Formats an address of PostgreSQL as a JDBC URL, without passwords. */
final class JdbcUrl {
  private JdbcUrl() {}

  /**
   * Returns the URL.
   *
   * @throws IllegalArgumentException when the driver would not understand the client's key
   */
  static String of(Postgres address, StoreAccess access) {
    List<String> options = new ArrayList<>();
    options.add("sslmode=" + address.sslMode());
    StoreAccess.StoreTls tls = access.tls();
    if (tls != null && tls.ca() != null) {
      options.add("sslrootcert=" + StoreAddress.encoded(tls.ca().toString()));
    }
    if (tls != null && tls.client() != null) {
      options.add("sslcert=" + StoreAddress.encoded(tls.client().certificate().toString()));
      options.add("sslkey=" + StoreAddress.encoded(tls.client().key().toString()));
      options.add("pemKeyAlgorithm=" + algorithm(tls.client().key()));
    }
    if (address.nodes().size() > 1) {
      // After a failover the driver must not write to a standby.
      options.add("targetServerType=primary");
    }
    String nodes = address.nodes().stream().map(Node::toString).collect(Collectors.joining(","));
    return "jdbc:postgresql://"
        + nodes
        + '/'
        + StoreAddress.encoded(address.database())
        + '?'
        + String.join("&", options);
  }

  /** Returns the algorithm of a key; the driver would take it for one of RSA. */
  private static String algorithm(Path key) {
    try {
      byte[] pem = PemFiles.bytes(key);
      String algorithm = PemFiles.privateKey(key, pem).getAlgorithm();
      if (!PemFiles.isPkcs8(pem)) {
        throw new IllegalArgumentException(
            key
                + " holds a key that is not PKCS #8, which the driver of PostgreSQL requires;"
                + " convert it: openssl pkcs8 -topk8 -nocrypt -in "
                + key
                + " -out NEW");
      }
      return algorithm;
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
