package io.throttlekit.service.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.StoreAddress.Cluster;
import io.throttlekit.service.config.StoreAddress.Memory;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Sentinel;
import io.throttlekit.service.config.StoreAddress.Socket;
import io.throttlekit.service.config.StoreAddress.Standalone;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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
        Arguments.of("redis-socket:///a%3Fb?db=2", new Socket("/a?b", 2)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("addresses")
  void saysWhereCountersLiveAndIsReadBackAsPrinted(String text, StoreAddress address) {
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
    "redis-socket://me:pw@/run/r.sock, me, pw"
  })
  void saysWhoThisProcessIsAndPrintsItHidden(String text, String user, String password) {
    StoreUri uri = parsed(text);
    assertThat(uri.login()).isEqualTo(new Login(user, password));
    assertThat(uri.toString()).contains("://***@").doesNotContain(user + ":" + password);
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
        "''|it has no scheme; write memory, redis://HOST:PORT",
        "memroy|it has no scheme (did you mean memory?); write memory, redis://HOST:PORT",
        "redis:/x|two slashes have to follow the scheme; write memory, redis://HOST:PORT",
        "redis:localhost|two slashes have to follow the scheme",
        "redis://a b|each host is a name",
        "redis://me:a b@r|what follows the scheme",
        "http://r|there is no store of that scheme; write memory, redis://HOST:PORT",
        "reddis://r|there is no store of that scheme (did you mean redis?); write memory",
        "postgresql://db/x|PostgreSQL is not available as a store in this version; write memory",
        "redis://|each host is a name",
        "redis://a:1,b:2|several hosts need redis-cluster:// or redis-sentinel://",
        "redis://r:0|a port is a number from 1 to 65535",
        "redis://r:65536|a port is a number from 1 to 65535",
        "redis://r/x|a database is a number",
        "redis://r?timeout=5ms|it has no parameter but db",
        "redis://r#main|a name after # needs redis-sentinel://",
        "redis-sentinel://a:1|after # the name of the master",
        "redis-sentinel://a:1#|after # the name of the master",
        "redis-cluster://a:1/2|a cluster has no databases but 0",
        "redis-socket://run/r.sock|the path of the socket has to begin with a slash",
        "redis://me:@r|a user needs a password",
        "redis://me:5%zz@r|in a password %",
        "redis://***@r|*** stands where a password was not printed"
      })
  void aMistakeIsToldInWords(String text, String expected) {
    assertThat(StoreUri.parse(text)).isNull();
    assertThat(StoreUri.wrongWith(text)).startsWith(expected);
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
  void aTextInWhichNoPasswordCanBeIsShownWhole(String text) {
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
        "postgresql://me:s3cr3t@db/x"
      })
  void aPasswordIsHiddenHoweverMisspeltTheRestIs(String text) {
    LoadedConfig loaded = load(text);
    assertThat(loaded.errors()).singleElement().asString().doesNotContain(SECRET).contains("***");
    assertThat(loaded.yaml()).doesNotContain(SECRET);
  }

  @Test
  void whateverIsPutBesideAPasswordDoesNotShowItWithSeed41() {
    String scraps = " :/@?#%,[]\"\n\t-x9*ä";
    SplittableRandom random = new SplittableRandom(41);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      StringBuilder before = new StringBuilder("redis://me:");
      StringBuilder after = new StringBuilder("@host:6379/0");
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
    assertThat(refused).isBetween(300, 1_900); // both ways are tried
  }

  private static LoadedConfig load(String uri) {
    return new ConfigLoader(Map.of("THROTTLEKIT_STORE_URI", uri, "THROTTLEKIT_POLICIES_PATHS", "p"))
        .load(ServeFlags.none());
  }

  private static StoreUri parsed(String text) {
    return Objects.requireNonNull(StoreUri.parse(text), text);
  }
}
