package io.throttlekit.postgres;

/** Locks of a database that are about no row. */
final class Advisory {
  /** Who makes the tables. */
  static final int MIGRATION = 1;

  /** Who begins an epoch. */
  static final int EPOCH = 2;

  private static final long OURS = 0x746B << 16;

  private Advisory() {}

  /** The number of a lock, another one for each schema of a database. */
  static long lock(String schema, int what) {
    return (OURS | what) << Integer.SIZE | Integer.toUnsignedLong(schema.hashCode());
  }
}
