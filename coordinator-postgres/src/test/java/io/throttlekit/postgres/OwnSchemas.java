package io.throttlekit.postgres;

/** Schemas of one database that stores in a test use in turn, so that a few are open at once. */
final class OwnSchemas {
  private static final int COUNT = 3;

  private final OwnDatabase database;
  private int opened;

  OwnSchemas(OwnDatabase database) {
    this.database = database;
  }

  /** Returns the next schema, whose counters are empty. */
  String next() {
    String name = "s" + opened++ % COUNT;
    if (!database.query("SELECT to_regclass('%s.tenants')".formatted(name)).isEmpty()) {
      database.run("DELETE FROM %1$s.counters; DELETE FROM %1$s.tenants".formatted(name));
    }
    return name;
  }
}
