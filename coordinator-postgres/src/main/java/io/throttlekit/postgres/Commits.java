package io.throttlekit.postgres;

/** How commits are made durable. */
final class Commits {
  /** As the server does, unless that is not to wait for its disk. */
  static final String DURABLE =
      "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

  private Commits() {}
}
