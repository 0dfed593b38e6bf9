package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.testkit.net.Authority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.Driver;

/** Tests the JDBC URL as the driver itself parses it. */
class JdbcUrlTest {
  private static final int PKCS8_HEADER = 26; // of a key of RSA with 2048 bits

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
  void namesWithReservedCharactersAreKept(@TempDir Path folder) {
    Path key = Authority.key(folder.resolve("c%2F key.pem"), Authority.named("ca").issue("a"));
    StoreTls tls =
        new StoreTls(
            Path.of("/a b/ca&x=1.pem"), new ClientCertificate(Path.of("/c+1/cert.pem"), key), true);
    StoreAccess access = new StoreAccess(new Login("me", "secret"), Login.none(), tls);
    Properties read = read(access, "a/b? c", SslMode.VERIFY_FULL, new Node("a", 5432));
    assertThat(read.getProperty("PGDBNAME")).isEqualTo("a/b? c");
    assertThat(read.getProperty("sslmode")).isEqualTo("verify-full");
    assertThat(read.getProperty("sslrootcert")).isEqualTo("/a b/ca&x=1.pem");
    assertThat(read.getProperty("sslcert")).isEqualTo("/c+1/cert.pem");
    assertThat(read.getProperty("sslkey")).isEqualTo(key.toString());
    assertThat(read.getProperty("pemKeyAlgorithm")).isEqualTo("EC");
    assertThat(read).as("passwords are no part of it").doesNotContainValue("secret");
  }

  @Test
  void aKeyThatTheDriverDoesNotReadIsReportedWithTheCommandThatConvertsIt(@TempDir Path folder)
      throws IOException, GeneralSecurityException {
    Path key = folder.resolve("tls.key");
    KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
    rsa.initialize(2048);
    byte[] pkcs8 = rsa.generateKeyPair().getPrivate().getEncoded();
    byte[] pkcs1 = Arrays.copyOfRange(pkcs8, PKCS8_HEADER, pkcs8.length);
    String base64 = Base64.getMimeEncoder().encodeToString(pkcs1);
    Files.writeString(
        key, "-----BEGIN RSA PRIVATE KEY-----\n" + base64 + "\n-----END RSA PRIVATE KEY-----\n");
    StoreTls tls = new StoreTls(null, new ClientCertificate(folder.resolve("tls.crt"), key), true);
    StoreAccess access = new StoreAccess(Login.none(), Login.none(), tls);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(access, "limits", SslMode.VERIFY_FULL, new Node("a", 5432)))
        .withMessageStartingWith(key + " holds a key that is not PKCS #8")
        .withMessageContaining("openssl pkcs8 -topk8 -nocrypt -in " + key + " -out ");
    Files.delete(key);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(access, "limits", SslMode.VERIFY_FULL, new Node("a", 5432)))
        .withMessage("there is no file " + key);
  }

  private static Properties read(
      StoreAccess access, String database, SslMode sslMode, Node... nodes) {
    Postgres address = new Postgres(List.of(nodes), database, sslMode, Postgres.DEFAULT_SCHEMA);
    String url = JdbcUrl.of(address, access);
    return Objects.requireNonNull(Driver.parseURL(url, new Properties()), url);
  }
}
