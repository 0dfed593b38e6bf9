package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answers;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.X509Bundle;
import io.throttlekit.testkit.net.Authority;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Redis servers that are found through others, with all of them behind TLS: a proxy in front of
 * each, whose port the others announce.
 */
@RealRedis
class RedisTlsTopologyTest {
  private static final String HOST = "127.0.0.1";
  private static final Authority OURS = Authority.named("ours");
  private static final Authority OTHER = Authority.named("other");

  private final List<AutoCloseable> opened = new ArrayList<>();

  @TempDir Path folder;

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @ParameterizedTest(name = "verifying hosts: {0}")
  @ValueSource(booleans = {true, false})
  void reachesEveryNodeOfAClusterByTls(boolean verifyHost) {
    String host = named(verifyHost);
    List<TcpProxy> proxies = new ArrayList<>();
    RedisNodes nodes =
        RedisNodes.startBehind(port -> {
          proxies.add(proxy(port, OURS.issue(host)));
          return proxies.getLast().port();
        });
    opened.add(nodes);
    RedisCounterStore store =
        open(Wanted.cluster("rediss://" + HOST + ":" + proxies.getFirst().port()), verifyHost);
    for (int i = 0; i < 60; i++) {
      acquire(store, "user" + i, 2);
      assertThat(left(store, "user" + i)).isEqualTo(3);
    }
    assertThat(nodes.masters())
        .allSatisfy(node -> assertThat(node.command("DBSIZE")).isNotEqualTo("0"));
    assertThat(proxies).allSatisfy(proxy -> assertThat(proxy.accepted()).isPositive());
  }

  @ParameterizedTest(name = "verifying hosts: {0}")
  @ValueSource(booleans = {true, false})
  void connectsToSentinelsAndTheirMasterByTls(boolean verifyHost) {
    String host = named(verifyHost);
    RedisProcess master = start();
    TcpProxy ofMaster = proxy(master.port(), OURS.issue(host));
    TcpProxy ofSentinel = proxy(sentinelThatNames(ofMaster).port(), OURS.issue(host));
    RedisCounterStore store = open(Wanted.redis(url(ofSentinel)), verifyHost);
    acquire(store, "a", 2);
    assertThat(left(store, "a")).isEqualTo(3);
    assertThat(master.command("DBSIZE")).isEqualTo("3");
    assertThat(ofSentinel.accepted()).isPositive();
    assertThat(ofMaster.accepted()).isPositive();
  }

  @Test
  void rejectsASentinelOfAnotherAuthority() {
    refuses(OTHER, OURS);
  }

  @Test
  void rejectsAMasterOfAnotherAuthority() {
    refuses(OURS, OTHER);
  }

  private void refuses(Authority ofSentinel, Authority ofMaster) {
    RedisProcess master = start();
    TcpProxy sentinel = proxy(sentinelThatNames(proxy(master, ofMaster)), ofSentinel);
    RedisCounterStore store = connect(Wanted.redis(url(sentinel)), false);
    await(
        "the reason is reported",
        () -> failure(ask(store, "a", 1)).toString().contains("certification path"));
    assertThat(master.command("DBSIZE")).isEqualTo("0");
  }

  /** Returns the host of a certificate: a wrong one if it is not verified. */
  private static String named(boolean verifyHost) {
    return verifyHost ? HOST : "redis.test";
  }

  private RedisCounterStore open(Wanted wanted, boolean verifyHost) {
    RedisCounterStore store = connect(wanted, verifyHost);
    await("answered", () -> answers(store));
    return store;
  }

  private RedisCounterStore connect(Wanted wanted, boolean verifyHost) {
    RedisSettings.Access.Tls tls =
        new RedisSettings.Access.Tls(OURS.writeTo(folder.resolve("ca.pem")), null, verifyHost);
    RedisSettings settings =
        wanted.deadlines(10_000, 10_000).breaker(1_000, 60_000, 10).tls(tls).settings();
    RedisCounterStore store = Stores.connect(settings);
    opened.add(store);
    return store;
  }

  /** Starts a Sentinel that names the proxy; it cannot monitor a master behind TLS itself. */
  private RedisProcess sentinelThatNames(TcpProxy master) {
    RedisProcess sentinel = start("--sentinel");
    sentinel.command("SENTINEL", "MONITOR", "main", HOST, String.valueOf(master.port()), "1");
    sentinel.command("SENTINEL", "SET", "main", "down-after-milliseconds", "3600000");
    return sentinel;
  }

  private RedisProcess start(String... options) {
    RedisProcess redis = RedisProcess.start(options);
    opened.add(redis);
    return redis;
  }

  private TcpProxy proxy(RedisProcess redis, Authority authority) {
    return proxy(redis.port(), authority.issue(HOST));
  }

  private TcpProxy proxy(int port, X509Bundle certificate) {
    TcpProxy proxy = TcpProxy.to(port, Authority.listen(certificate, null));
    opened.add(proxy);
    return proxy;
  }

  private static String url(TcpProxy sentinel) {
    return "rediss-sentinel://" + HOST + ":" + sentinel.port() + "#main";
  }
}
