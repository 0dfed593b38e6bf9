package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.postgres.PostgresProcess;
import io.throttlekit.postgres.RealPostgres;
import io.throttlekit.service.config.ConfigLoader;
import io.throttlekit.service.config.ServeFlags;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a service that starts warms the way to its PostgreSQL up. */
@RealPostgres
@Timeout(60)
class PostgresWarmUpTest {
  @TempDir private Path folder;

  @Test
  void asksTheStoreAndLeavesNoCounterThere() throws Exception {
    Files.writeString(folder.resolve("p.yaml"), "domain: shop\n");
    try (PostgresProcess postgres = PostgresProcess.startFast();
        Logged log = Logged.by(RateLimitService.class)) {
      RateLimitService service = service(postgres);
      try {
        assertThat(service.start()).isTrue();
        assertThat(log.lines())
            .anyMatch(line -> line.matches("INFO warmed up the way to the store with [1-9].*"));
        assertThat(query(postgres, "SELECT count(*) FROM throttlekit.counters")).isZero();
      } finally {
        service.stop();
      }
    }
  }

  private RateLimitService service(PostgresProcess postgres) {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", folder.toString(),
            "GRPC_HOST", "127.0.0.1",
            "HOST", "127.0.0.1",
            "GRPC_PORT", "0",
            "PORT", "0",
            "DEBUG_PORT", "0",
            "THROTTLEKIT_STORE_URI",
                "postgresql://"
                    + PostgresProcess.SUPERUSER
                    + ":any@127.0.0.1:"
                    + postgres.port()
                    + "/postgres",
            "THROTTLEKIT_WARM_UP_REQUESTS", "300");
    var config = new ConfigLoader(environment).load(ServeFlags.none()).config();
    return new RateLimitService(Objects.requireNonNull(config), TimeSource.system());
  }

  private static long query(PostgresProcess postgres, String sql) throws Exception {
    try (Connection admin = postgres.connect("postgres");
        Statement statement = admin.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
