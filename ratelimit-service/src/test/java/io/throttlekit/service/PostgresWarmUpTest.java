package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the warm-up of the path to PostgreSQL. */
@RealPostgres
class PostgresWarmUpTest {
  @TempDir private Path folder;

  @Test
  void warmsUpTheStoreAndLeavesNoCounter() throws Exception {
    Files.writeString(folder.resolve("p.yaml"), "domain: shop\n");
    try (PostgresProcess postgres = PostgresProcess.startFast();
        Logged log = Logged.by(RateLimitService.class)) {
      RateLimitService service = service(postgres);
      try {
        assertThat(service.start()).isTrue();
        assertThat(log.lines())
            .anyMatch(line -> line.matches("INFO warmed up the path to the store with [1-9].*"));
        assertThat(query(postgres, "SELECT count(*) FROM throttlekit.counters")).isZero();
      } finally {
        service.stop();
      }
    }
  }

  private RateLimitService service(PostgresProcess postgres) {
    Map<String, String> environment = LoopbackService.environment(folder);
    environment.put(
        "THROTTLEKIT_STORE_URI",
        "postgresql://"
            + PostgresProcess.SUPERUSER
            + ":any@127.0.0.1:"
            + postgres.port()
            + "/postgres");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "300");
    return LoopbackService.of(environment, new SlowTime(20));
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
