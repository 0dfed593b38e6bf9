package io.throttlekit.redis;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a Redis is entered, beside what its URL says; its text shows no password.
 *
 * @param keyPrefix what the name of every key begins with: who has the same shares counters;
 *     without braces, which would put all keys into one slot of a Cluster
 * @param tls what TLS is held to, where the URL speaks it; absent for what Java trusts
 * @param sentinelUser who this process says it is to Sentinels; empty for nobody in particular
 * @param sentinelPassword empty where Sentinels ask for none
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
   * What TLS is held to.
   *
   * @param ca PEM certificates that must have signed the other side's; absent for Java's
   * @param certificate PEM chain of this process; absent, with the key, for none
   * @param key PEM private key of the certificate
   * @param verifyHost whether the other side's certificate has to carry its host name
   */
  public record Tls(
      @Nullable Path ca, @Nullable Path certificate, @Nullable Path key, boolean verifyHost) {}

  @Override
  public String toString() {
    return "RedisAccess[keyPrefix=" + keyPrefix + ", tls=" + tls + "]";
  }
}
