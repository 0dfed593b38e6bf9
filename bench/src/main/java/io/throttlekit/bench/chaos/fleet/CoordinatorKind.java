package io.throttlekit.bench.chaos.fleet;

/** Kind of the coordinator, from which regions lease units of a shared limit. */
public enum CoordinatorKind {
  REDIS("Redis, AOF always"),
  POSTGRESQL("PostgreSQL, synchronous standby");

  private final String words;

  CoordinatorKind(String words) {
    this.words = words;
  }

  /** Returns a readable description. */
  public String words() {
    return words;
  }
}
