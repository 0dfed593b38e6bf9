package io.throttlekit.service.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a store outside the process is entered; its text shows no password.
 *
 * @param login who this process says it is
 * @param sentinelLogin who it says it is to Sentinels
 * @param tls how TLS is spoken; absent when the address speaks none
 */
public record StoreAccess(Login login, Login sentinelLogin, @Nullable StoreTls tls) {

  /**
   * How TLS is spoken with a store.
   *
   * @param ca PEM certificates that must have signed the store's; absent for those that Java trusts
   * @param client who this process says it is; absent when the store does not ask
   * @param verifyHost whether the store's certificate has to carry its host name
   */
  public record StoreTls(
      @Nullable Path ca, @Nullable ClientCertificate client, boolean verifyHost) {}

  /**
   * A certificate of this process.
   *
   * @param certificate PEM chain
   * @param key PEM private key
   */
  public record ClientCertificate(Path certificate, Path key) {}

  /** Plaintext, without a password. */
  public static StoreAccess open() {
    return new StoreAccess(Login.none(), Login.none(), null);
  }
}
