package io.throttlekit.postgres;

/** The durability of counters after a crash of the server. Budgets are always durable. */
public enum Durability {
  /** All acknowledged changes: each commit waits for the disk, or as configured on the server. */
  SYNCHRONOUS,

  /**
   * All but the last moment (three times {@code wal_writer_delay}, so 0.6 s): commits do not wait.
   */
  ASYNCHRONOUS,

  /**
   * None: the tables are unlogged, so a crash empties them, which is detected and treated as a loss
   * of data. They are not replicated either. Only the process that creates the tables decides this.
   */
  UNLOGGED
}
