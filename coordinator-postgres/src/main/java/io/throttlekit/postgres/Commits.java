package io.throttlekit.postgres;

/** The durability of commits. */
final class Commits {
  /** Uses the server's setting, except that commits always wait for the disk. */
  static final String DURABLE =
      "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

  private Commits() {}
}
