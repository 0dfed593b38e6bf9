package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the ways to connect to a Redis. */
@RealRedis
class RedisUrlsTest {
  private static RedisProcess redis;
  private static Path socket;

  @BeforeAll
  static void start() {
    redis = RedisProcess.start("--unixsocket", "socket");
    socket = redis.folder().resolve("socket");
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Test
  void aPrefixWithBracesIsRejected() {
    for (String prefix : List.of("{a}:", "a{", "}")) {
      assertThatThrownBy(() -> new RedisSettings.Access(prefix, null, "", ""))
          .hasMessage("a key prefix has no braces, was " + prefix);
    }
  }

  @Test
  void aMissingPasswordIsTheReasonOfTheFirstCall() {
    try (RedisProcess locked = RedisProcess.start()) {
      var _ = locked.command("CONFIG", "SET", "requirepass", "s3cr3t");
      RedisSettings settings =
          RedisSettings.of(locked.url()).withDeadline(Duration.ofMinutes(4)); // it is not awaited
      try (RedisCounterStore store = RedisCounterStore.connect(settings)) {
        assertThat(failure(StoreCalls.ask(store, "a", 1)))
            .hasMessageContainingAll("no connection to Redis", "NOAUTH", "PASSWORD");
        assertThat(store.ready().toCompletableFuture()).isNotDone();
      }
    }
  }

  @Test
  void aDatabaseNumber() {
    charge(redis.url() + "/3", "db");
    assertThat(redis.command("EXISTS", "tk1:" + StoreCalls.key(StoreCalls.FIVE, "db")))
        .isEqualTo("0");
    assertThat(redis.command("INFO", "keyspace")).contains("db3:keys=3");
  }

  @Test
  void aUserWithOnlyTheRightsThatItNeeds() {
    redis.command(
        "ACL",
        "SETUSER",
        "limits",
        "on",
        ">secret",
        "~tk1:*",
        "+@connection",
        "+evalsha",
        "+eval",
        "+script|load",
        "+time",
        "+get",
        "+set",
        "+del");
    charge("redis://limits:secret@127.0.0.1:" + redis.port() + "/5", "acl", "+select");
    RedisCounterStore wrong = open("redis://limits:wrong@127.0.0.1:" + redis.port());
    try (wrong) {
      StoreCalls.await(
          "the reason is reported",
          () -> failure(StoreCalls.ask(wrong, "acl", 1)).toString().contains("WRONGPASS"));
    }
  }

  @Test
  void aSocketOfTheFileSystem() {
    Assumptions.assumeTrue(Epoll.isAvailable(), "needs epoll");
    charge("redis-socket://" + socket + "?database=4", "socket");
  }

  @Test
  void onTheLoopsOfAServer() {
    EventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(
            3, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    try (RedisCounterStore store =
        Stores.connected(
            RedisCounterStore.connect(
                Stores.longDeadlines(redis.url()).settings(),
                TimeSource.system(),
                StoreListener.NONE,
                loops))) {
      List<CompletableFuture<Boolean>> sameThread = new ArrayList<>();
      loops.forEach(loop -> {
        CompletableFuture<Boolean> same = new CompletableFuture<>();
        sameThread.add(same);
        loop.execute(() ->
            StoreCalls.ask(store, "loops", 1)
                .whenComplete((_, _) -> same.complete(loop.inEventLoop())));
      });
      assertThat(sameThread)
          .hasSize(3)
          .allSatisfy(same -> assertThat(StoreCalls.answer(same)).isTrue());
      assertThat(left(store, "loops")).isEqualTo(2);
    } finally {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  @Test
  void aUrlOfAnotherSchemeIsRejected() {
    assertThatIllegalArgumentException().isThrownBy(() -> open("postgresql://localhost").close());
  }

  private static void charge(String url, String user, String... rights) {
    if (rights.length > 0) {
      redis.command("ACL", "SETUSER", "limits", rights[0]);
    }
    try (RedisCounterStore store = Stores.connected(open(url))) {
      acquire(store, user, 2);
      assertThat(left(store, user)).isEqualTo(3);
    }
  }

  private static RedisCounterStore open(String url) {
    return Stores.connect(Stores.longDeadlines(url).settings());
  }
}
