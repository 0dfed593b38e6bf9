package io.throttlekit.service.config;

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
    return given() ? "Login[" + Secrets.HIDDEN + "]" : "Login[]";
  }
}
