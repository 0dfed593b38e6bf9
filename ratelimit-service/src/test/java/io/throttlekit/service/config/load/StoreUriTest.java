package io.throttlekit.service.config.load;

import static io.throttlekit.service.config.StoreAddress.SslMode.DISABLE;
import static io.throttlekit.service.config.StoreAddress.SslMode.PREFER;
import static io.throttlekit.service.config.StoreAddress.SslMode.VERIFY_CA;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Cluster;
import io.throttlekit.service.config.StoreAddress.Memory;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.Sentinel;
import io.throttlekit.service.config.StoreAddress.Socket;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.service.config.StoreAddress.Standalone;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreUriTest {

  private static final String SECRET = "s3cr3t";

  static Stream<Arguments> addresses() {
    return Stream.of(
        Arguments.of("memory", new Memory()),
        Arguments.of("redis://r", new Standalone(false, new Node("r", 6379), 0)),
        Arguments.of("redis://10.0.0.1:1/", new Standalone(false, new Node("10.0.0.1", 1), 0)),
        Arguments.of("rediss://r:7/15", new Standalone(true, new Node("r", 7), 15)),
        Arguments.of("redis://r?db=3", new Standalone(false, new Node("r", 6379), 3)),
        Arguments.of("REDIS://[::1]:7", new Standalone(false, new Node("::1", 7), 0)),
        // java.net.URI finds no host where its name has an underscore.
        Arguments.of("redis://my_host:6380/1", new Standalone(false, new Node("my_host", 6380), 1)),
        Arguments.of("redis://my_host", new Standalone(false, new Node("my_host", 6379), 0)),
        Arguments.of(
            "redis-sentinel://my_a:1,[::1],b_#m",
            new Sentinel(
                false,
                List.of(new Node("my_a", 1), new Node("::1", 26379), new Node("b_", 26379)),
                "m",
                0)),
        Arguments.of(
            "redis-cluster://my_a,[::1]:2",
            new Cluster(false, List.of(new Node("my_a", 6379), new Node("::1", 2)))),
        Arguments.of(
            "redis-sentinel://a,b:2#main",
            new Sentinel(false, List.of(new Node("a", 26379), new Node("b", 2)), "main", 0)),
        Arguments.of(
            "rediss-sentinel://a/4#my%20main",
            new Sentinel(true, List.of(new Node("a", 26379)), "my main", 4)),
        Arguments.of(
            "redis-cluster://a,b:2",
            new Cluster(false, List.of(new Node("a", 6379), new Node("b", 2)))),
        Arguments.of("rediss-cluster://a", new Cluster(true, List.of(new Node("a", 6379)))),
        Arguments.of("redis-socket:///run/r.sock", new Socket("/run/r.sock", 0)),
        Arguments.of("redis-socket:///a%3Fb?db=2", new Socket("/a?b", 2)),
        Arguments.of("postgresql://db/limits", postgres("limits", PREFER, "throttlekit")),
        Arguments.of("POSTGRES://db:5432/limits?", postgres("limits", PREFER, "throttlekit")),
        Arguments.of(
            "postgresql://my_db:5/a/b",
            new Postgres(List.of(new Node("my_db", 5)), "a/b", PREFER, "throttlekit")),
        Arguments.of("postgresql://db/a%2Fb%3F%20c", postgres("a/b? c", PREFER, "throttlekit")),
        Arguments.of("postgresql://db/x?sslmode=Disable", postgres("x", DISABLE, "throttlekit")),
        Arguments.of("postgresql://db/x?schema=_s1", postgres("x", PREFER, "_s1")),
        Arguments.of(
            "postgresql://a:1,[::1]/x?SSLMODE=verify-ca&schema=s",
            new Postgres(List.of(new Node("a", 1), new Node("::1", 5432)), "x", VERIFY_CA, "s")));
  }

  private static Postgres postgres(String database, SslMode sslMode, String schema) {
    return new Postgres(List.of(new Node("db", 5432)), database, sslMode, schema);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("addresses")
  void parsesAnAddressAndRoundTripsItsText(String text, StoreAddress address)
      throws InvalidTextException {
    assertThat(parsed(text)).isEqualTo(new StoreUri(address, Login.none()));
    assertThat(parsed(address.toString()).address()).isEqualTo(address);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "redis://:pw@r, '', pw",
    "redis://pw@r, '', pw",
    "redis://me:pw@r:1/2, me, pw",
    "redis://me:p:w@r, me, p:w",
    "redis://me:p%40w%25@r, me, p@w%",
    "redis://me:p@/?#w@r, me, p@/?#w",
    "'redis-sentinel://me:pw@a:1,b:2#main', me, pw",
    "'rediss-cluster://me:pw@a:1,b:2', me, pw",
    "redis-socket://me:pw@/run/r.sock, me, pw",
    "postgresql://me:pw@db/x, me, pw",
    "postgresql://:pw@db/x, '', pw",
    "postgresql://m%3Ae:p%40w%25@db/x, m:e, p@w%",
    "postgresql://me:p@/?#w@a:1/x?schema=s, me, p@/?#w",
    "postgresql://me@db/x, me, ''",
    "postgresql://me:@db/x, me, ''"
  })
  void parsesTheLoginAndMasksItInItsText(String text, String user, String password)
      throws InvalidTextException {
    StoreUri uri = parsed(text);
    assertThat(uri.login()).isEqualTo(new Login(user, password));
    assertThat(uri.toString()).contains("://***@").doesNotContain(user + ":" + password);
    assertThat(uri.login().toString()).doesNotContain(user + password);
    assertThat(uri.address().toString()).doesNotContain("@");
  }

  @ParameterizedTest(name = "\"{0}\"")
  @CsvSource(
      delimiter = '|',
      value = {
        "r:6379|it has no scheme; write redis://r:6379",
        "127.0.0.1:6379|it has no scheme; write redis://127.0.0.1:6379",
        "[::1]:6379|it has no scheme; write redis://[::1]:6379",
        "redis:6379|it has no scheme; write redis://redis:6379",
        "::1:6379|it has no scheme, and an IPv6 address is in brackets; write redis://[::1]:6379",
        "fe80::2:5432|it has no scheme, and an IPv6 address is in brackets; write"
            + " postgresql://[fe80::2]:5432/DATABASE",
        "::1|it has no scheme, and an IPv6 address is in brackets; write redis://[::1]:PORT",
        "redis://::1:6379|an IPv6 address is in brackets: [::1]:6379",
        "redis-cluster://a:1,2001:db8::7:6379|an IPv6 address is in brackets: [2001:db8::7]:6379",
        "postgresql://::1/x|an IPv6 address is in brackets: [::1]",
        "redis://redis:port|after the colon a port has to follow, a number from 1 to 65535",
        "redis-master:6379|it has no scheme; write redis://redis-master:6379",
        "REDISS:6379|it has no scheme; write redis://REDISS:6379",
        "postgres:5432|it has no scheme; write postgresql://postgres:5432/DATABASE",
        "redis-master:6379/0|it has no scheme; write memory, redis://HOST:PORT",
        "redis:6379/0|it has no scheme; write memory, redis://HOST:PORT",
        "redis-a:1,redis-b:2|it has no scheme; write memory, redis://HOST:PORT",
        "REDIS-CLUSTER:/x|two slashes have to follow the scheme",
        "''|it has no scheme; write memory, redis://HOST:PORT",
        "memroy|it has no scheme (did you mean memory?); write memory, redis://HOST:PORT",
        "redis:/x|two slashes have to follow the scheme; write memory, redis://HOST:PORT",
        "redis:localhost|two slashes have to follow the scheme",
        "redis://a b|each host is a name",
        "redis://me:a b@r|what follows the scheme",
        "http://r|there is no store of that scheme; write memory, redis://HOST:PORT",
        "reddis://r|there is no store of that scheme (did you mean redis?); write memory",
        "postgres:/x|two slashes have to follow the scheme; write memory, redis://HOST:PORT",
        "postgreslq://x|there is no store of that scheme (did you mean postgresql?); write memory",
        "jdbc:postgresql://db/x|the URI must start with the scheme of a store, without jdbc:; write"
            + " memory",
        "postgresql://db|after the hosts the name of a database has to follow; write postgresql:",
        "postgresql://db/|after the hosts the name of a database has to follow",
        "postgresql://db/%zz|after the hosts the name of a database has to follow",
        "postgresql://db/%0a|after the hosts the name of a database has to follow",
        "postgresql://a:1,/x|each host is a name",
        "postgresql://db:0/x|a port is a number from 1 to 65535",
        "postgresql://db/x#main|a name after # needs redis-sentinel://",
        "postgresql://db/x?sslmod=require|it has no parameters but sslmode and schema (did you mean"
            + " sslmode?): other things are settings of their own",
        "postgresql://db/x?&schema=s|it has no parameters but sslmode and schema",
        "postgresql://db/x?connect_timeout=3|it has no parameters but sslmode and schema: other",
        "postgresql://db/x?sslmode|sslmode is one of disable, prefer, require, verify-ca,"
            + " verify-full",
        "postgresql://db/x?sslmode=requires|sslmode is one of disable, prefer, require, verify-ca,"
            + " verify-full (did you mean require?)",
        "postgresql://db/x?schema=Limits|a schema is at most 63 lower-case letters",
        "postgresql://db/x?schema=1s|a schema is at most 63 lower-case letters",
        "postgresql://db/x?schema=a&schema=b|schema is given twice",
        "postgresql://db/x?user=me|credentials have to stand before the hosts; write postgresql:",
        "postgresql://me:5%zz@db/x|in a password %",
        "postgresql://***@db/x|*** is printed in place of a password",
        "redis://|each host is a name",
        "redis://a:1,b:2|several hosts need redis-cluster:// or redis-sentinel://",
        "redis://r:0|a port is a number from 1 to 65535",
        "redis://r:65536|a port is a number from 1 to 65535",
        "redis://r/x|a database is a number",
        "redis://r?timeout=5ms|it has no parameter but db",
        "redis://r#main|a name after # needs redis-sentinel://",
        "redis-sentinel://a:1|after # the name of the master",
        "redis-sentinel://a:1#|after # the name of the master",
        "redis-sentinel://a:1#my main|after # the name of the master has to follow, percent-enc",
        "redis-sentinel://a:0#m|a port is a number from 1 to 65535",
        "redis-socket:///a b|the path of the socket has to begin with a slash, percent-encoded",
        "redis://[:::1]|each host is a name or an IP address, then a port",
        "postgresql://[:::1:2]:1,b/|after the hosts the name of a database has to follow",
        "redis://me:%ff@r|in a password %",
        "redis-cluster://a:1/2|a cluster has no databases but 0",
        "redis-socket://run/r.sock|the path of the socket has to begin with a slash",
        "redis://me:@r|a user needs a password",
        "redis://me:5%zz@r|in a password %",
        "redis://***@r|*** is printed in place of a password"
      })
  void anErrorIsReportedWithAMessage(String text, String expected) {
    assertThatThrownBy(() -> StoreUri.parse(text))
        .isInstanceOf(InvalidTextException.class)
        .hasMessageStartingWith(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis:/x",
        "redis:/x:6379",
        "rediss-cluster:/x",
        "unix:/run/r.sock",
        "http://x",
        "redis-socket:/run/r.sock"
      })
  void aTextThatCannotContainAPasswordIsShown(String text) {
    assertThat(load(text).errors())
        .singleElement()
        .asString()
        .startsWith("env THROTTLEKIT_STORE_URI: \"" + text + "\": ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis:/:s3cr3t",
        "redis:/me:s3cr3t@r",
        "me:/s3cr3t",
        "redis://me:/s3cr3t",
        "redis//:s3cr3t@r:6379",
        ":s3cr3t@r",
        "redis://s3cr3t@r:x",
        "redis://:s3cr3t",
        "redis://me:s3cr3t",
        "redis:s3cr3t",
        "redis://me:a@b/s3cr3t@r:x",
        "redis://me:a s3cr3t@r",
        "redis://me:s3cr3t\n@r",
        "redis://r:1?password=s3cr3t",
        "postgresql://me:s3cr3t@db",
        "postgresql://db/x?user=me&password=s3cr3t",
        "jdbc:postgresql://me:s3cr3t@db/x",
        "postgresql:me:s3cr3t@db/x",
        "postgresql://s3cr3t@db:x/y"
      })
  void aPasswordIsMaskedInAnyMisspeltUri(String text) {
    LoadedConfig loaded = load(text);
    assertThat(loaded.errors()).singleElement().asString().doesNotContain(SECRET).contains("***");
    assertThat(loaded.yaml()).doesNotContain(SECRET);
  }

  @ParameterizedTest
  @CsvSource({"redis://, /0", "postgresql://, /limits?sslmode=require"})
  void aPasswordIsMaskedAmongRandomTextSeed41(String scheme, String path) {
    String scraps = " :/@?#%,[]\"\n\t-x9*ä";
    SplittableRandom random = new SplittableRandom(41);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      StringBuilder before = new StringBuilder(scheme + "me:");
      StringBuilder after = new StringBuilder("@host:6379" + path);
      for (int j = random.nextInt(1, 4); j > 0; j--) {
        StringBuilder damaged = random.nextBoolean() ? before : after;
        char scrap = scraps.charAt(random.nextInt(scraps.length()));
        damaged.insert(random.nextInt(damaged.length() + 1), scrap);
      }
      String text = before + SECRET + after;
      LoadedConfig loaded = load(text);
      assertThat(loaded.yaml() + loaded.errors() + loaded.warnings() + loaded.config())
          .as(text)
          .doesNotContain(SECRET);
      refused += loaded.errors().isEmpty() ? 0 : 1;
    }
    assertThat(refused).isBetween(300, 1_900); // both outcomes occur
  }

  private static LoadedConfig load(String uri) {
    return new ConfigLoader(Map.of("THROTTLEKIT_STORE_URI", uri, "THROTTLEKIT_POLICIES_PATHS", "p"))
        .load(Map.of());
  }

  private static StoreUri parsed(String text) throws InvalidTextException {
    return StoreUri.parse(text);
  }
}
