package io.throttlekit.service.config;

/**
 * Who this process says it is; its text does not show the password.
 *
 * @param user empty for the server's default user
 * @param password empty for none; a user without one is known to PostgreSQL by other means
 */
public record Login(String user, String password) {

  /** Nobody in particular. */
  public static Login none() {
    return new Login("", "");
  }

  /** Whether the process says who it is at all. */
  public boolean given() {
    return !user.isEmpty() || !password.isEmpty();
  }

  @Override
  public String toString() {
    return given() ? "Login[" + Secrets.HIDDEN + "]" : "Login[]";
  }
}
