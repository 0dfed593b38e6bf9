package io.throttlekit.bench.chaos;

/** Where regions share a limit. */
enum CoordinatorKind {
  REDIS("Redis, AOF always"),
  POSTGRESQL("PostgreSQL, synchronous standby");

  private final String words;

  CoordinatorKind(String words) {
    this.words = words;
  }

  /** For people. */
  String words() {
    return words;
  }
}
