package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Node;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisUrlTest {
  private static final Login ODD = new Login("us@r", "p:a/s?s#w%o+r d@");

  @Test
  void theClientReadsTheConfiguration() {
    RedisURI one = read(new StoreAddress.Standalone(true, new Node("cache.example", 6380), 3), ODD);
    assertThat(one.getHost()).isEqualTo("cache.example");
    assertThat(one.getPort()).isEqualTo(6380);
    assertThat(one.getDatabase()).isEqualTo(3);
    assertThat(one.isSsl()).isTrue();
    assertThat(login(one).getUsername()).isEqualTo(ODD.user());
    assertThat(new String(login(one).getPassword())).isEqualTo(ODD.password());
  }

  @Test
  void sentinelsAreNamedWithTheirMaster() {
    StoreAddress address =
        new StoreAddress.Sentinel(
            false, List.of(new Node("a", 26379), new Node("b", 26380)), "my master", 2);
    RedisURI sentinel = read(address, new Login("", "secret"));
    assertThat(sentinel.getSentinelMasterId()).isEqualTo("my master");
    assertThat(sentinel.getSentinels()).extracting(RedisURI::getPort).containsExactly(26379, 26380);
    assertThat(sentinel.getDatabase()).isEqualTo(2);
    assertThat(new String(login(sentinel).getPassword())).isEqualTo("secret");
  }

  @Test
  void aSocketIsAPath() {
    RedisURI socket = read(new StoreAddress.Socket("/run/redis.sock", 1), Login.none());
    assertThat(socket.getSocket()).isEqualTo("/run/redis.sock");
    assertThat(socket.getDatabase()).isEqualTo(1);
  }

  @Test
  void everySeedOfAClusterHasTheLogin() {
    StoreAddress address =
        new StoreAddress.Cluster(true, List.of(new Node("a", 7000), new Node("::1", 7001)));
    assertThat(RedisUrl.of(address, new Login("u", "p")))
        .isEqualTo("rediss://u:p@a:7000,rediss://u:p@[::1]:7001");
  }

  @Test
  void otherStoresHaveNoRedisUrl() {
    List<Node> nodes = List.of(new Node("db", 5432));
    for (StoreAddress none :
        List.of(
            new StoreAddress.Memory(),
            new StoreAddress.Postgres(nodes, "limits", StoreAddress.SslMode.PREFER, "s"))) {
      assertThatIllegalArgumentException().isThrownBy(() -> RedisUrl.of(none, Login.none()));
    }
  }

  private static RedisCredentials login(RedisURI uri) {
    return uri.getCredentialsProvider().resolveCredentials().toFuture().join();
  }

  private static RedisURI read(StoreAddress address, Login login) {
    return RedisURI.create(RedisUrl.of(address, login));
  }
}
