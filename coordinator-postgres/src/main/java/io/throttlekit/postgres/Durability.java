package io.throttlekit.postgres;

/** What of the counters outlives a crash of the server. What regions lease always does. */
public enum Durability {
  /** Everything that was answered: each commit waits for the disk, or for what the server waits. */
  SYNCHRONOUS,

  /**
   * All but the last moment (three times {@code wal_writer_delay}, so .6 s): commits do not wait.
   */
  ASYNCHRONOUS,

  /**
   * Nothing: the tables are made unlogged, so a crash empties them, which is noticed and treated as
   * a loss of data. They are not replicated either. Only who creates the tables decides about it.
   */
  UNLOGGED
}
