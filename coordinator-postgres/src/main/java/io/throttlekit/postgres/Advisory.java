package io.throttlekit.postgres;

/** Advisory locks of a database, which belong to no row. */
final class Advisory {
  /** Held while the tables are created or migrated. */
  static final int MIGRATION = 1;

  /** Held while an epoch begins. */
  static final int EPOCH = 2;

  // "tk" in ASCII, apart from other applications' locks
  private static final long OURS = 0x746B << 16;

  private Advisory() {}

  /** Returns the key of a lock, a different one for each schema of a database. */
  static long lock(String schema, int what) {
    return (OURS | what) << Integer.SIZE | Integer.toUnsignedLong(schema.hashCode());
  }
}
