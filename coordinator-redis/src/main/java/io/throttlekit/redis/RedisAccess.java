package io.throttlekit.redis;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The access to a Redis, besides its URL. Its text shows no password.
 *
 * @param keyPrefix prefix of every key; processes with the same prefix share counters. No braces,
 *     which would put all keys into one slot of a Cluster
 * @param tls verification and identity for TLS, if the URL uses it; absent for Java's defaults
 * @param sentinelUser user name for Sentinels; empty for the default user
 * @param sentinelPassword empty if Sentinels require none
 */
public record RedisAccess(
    String keyPrefix, @Nullable Tls tls, String sentinelUser, String sentinelPassword) {

  /** Checks the prefix. */
  public RedisAccess {
    if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
      throw new IllegalArgumentException("a key prefix has no braces, was " + keyPrefix);
    }
  }

  /**
   * TLS settings.
   *
   * @param ca PEM certificates that must have signed the server's; absent for Java's
   * @param certificate PEM chain of this process; absent, with the key, for none
   * @param key PEM private key of the certificate
   * @param verifyHost whether the server's certificate has to carry its host name
   */
  public record Tls(
      @Nullable Path ca, @Nullable Path certificate, @Nullable Path key, boolean verifyHost) {}

  @Override
  public String toString() {
    return "RedisAccess[keyPrefix=" + keyPrefix + ", tls=" + tls + "]";
  }
}
