package io.throttlekit.service.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Credentials and TLS for a store outside of the process; its text shows no password.
 *
 * @param login credentials for the store
 * @param sentinelLogin credentials for Sentinels
 * @param tls TLS settings; absent for plaintext
 */
public record StoreAccess(Login login, Login sentinelLogin, @Nullable StoreTls tls) {

  /**
   * TLS settings for a store.
   *
   * @param ca PEM certificates that must have signed the store's; absent for those that Java trusts
   * @param client certificate of this process; absent when the store requires none
   * @param verifyHost whether the store's certificate must contain its host name
   */
  public record StoreTls(
      @Nullable Path ca, @Nullable ClientCertificate client, boolean verifyHost) {}

  /**
   * Certificate of this process.
   *
   * @param certificate PEM chain
   * @param key PEM private key
   */
  public record ClientCertificate(Path certificate, Path key) {}

  /** Returns the passwords; empty ones are none. */
  List<String> secrets() {
    return List.of(login.password(), sentinelLogin.password());
  }

  /** Returns plaintext access without a password. */
  public static StoreAccess open() {
    return new StoreAccess(Login.none(), Login.none(), null);
  }

  /**
   * Credentials of this process; their text does not show the password.
   *
   * @param user empty for the server's default user
   * @param password empty for none; PostgreSQL may authenticate a user without one by other means
   */
  public record Login(String user, String password) {

    /** Returns empty credentials. */
    public static Login none() {
      return new Login("", "");
    }

    /** Returns whether there is a user or a password. */
    public boolean given() {
      return !user.isEmpty() || !password.isEmpty();
    }

    @Override
    public String toString() {
      return given() ? "Login[***]" : "Login[]";
    }
  }
}
