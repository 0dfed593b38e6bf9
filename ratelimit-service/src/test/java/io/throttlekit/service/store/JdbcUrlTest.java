package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.postgresql.Driver;

/** Tests the JDBC URL as the driver itself parses it. */
class JdbcUrlTest {
  @Test
  void ofSeveralHostsThePrimaryIsRequired() {
    Properties read =
        read(
            StoreAccess.open(),
            "limits",
            SslMode.PREFER,
            new Node("a", 5433),
            new Node("::1", 5432),
            new Node("c", 5432));
    assertThat(read.getProperty("PGHOST")).isEqualTo("a,[::1],c");
    assertThat(read.getProperty("PGPORT")).isEqualTo("5433,5432,5432");
    assertThat(read.getProperty("PGDBNAME")).isEqualTo("limits");
    assertThat(read.getProperty("targetServerType")).isEqualTo("primary");
  }

  @Test
  void aSingleHostNeedNotBePrimary() {
    Properties read = read(StoreAccess.open(), "limits", SslMode.PREFER, new Node("a", 5432));
    assertThat(read.getProperty("PGHOST")).isEqualTo("a");
    assertThat(read.getProperty("targetServerType")).isNull();
    assertThat(read.getProperty("sslmode")).isEqualTo("prefer");
  }

  @Test
  void namesWithReservedCharactersAreKept() {
    StoreTls tls =
        new StoreTls(
            Path.of("/a b/ca&x=1.pem"),
            new ClientCertificate(Path.of("/c+1/cert.pem"), Path.of("/c%2F/key.pem")),
            true);
    StoreAccess access = new StoreAccess(new Login("me", "secret"), Login.none(), tls);
    Properties read = read(access, "a/b? c", SslMode.VERIFY_FULL, new Node("a", 5432));
    assertThat(read.getProperty("PGDBNAME")).isEqualTo("a/b? c");
    assertThat(read.getProperty("sslmode")).isEqualTo("verify-full");
    assertThat(read.getProperty("sslrootcert")).isEqualTo("/a b/ca&x=1.pem");
    assertThat(read.getProperty("sslcert")).isEqualTo("/c+1/cert.pem");
    assertThat(read.getProperty("sslkey")).isEqualTo("/c%2F/key.pem");
    assertThat(read).as("passwords are no part of it").doesNotContainValue("secret");
  }

  private static Properties read(
      StoreAccess access, String database, SslMode sslMode, Node... nodes) {
    Postgres address = new Postgres(List.of(nodes), database, sslMode, Postgres.DEFAULT_SCHEMA);
    String url = JdbcUrl.of(address, access);
    return Objects.requireNonNull(Driver.parseURL(url, new Properties()), url);
  }
}
