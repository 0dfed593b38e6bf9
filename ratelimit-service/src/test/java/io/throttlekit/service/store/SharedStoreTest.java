package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@RealRedis
class SharedStoreTest {
  private static final long HOUR = 3_600_000;
  private static final Duration LONG_TIMEOUT =
      Duration.ofSeconds(20); // longer than a busy machine takes

  /** One call for an answer, ten for fast ones. */
  private static final double STORE_LOOKS = 11;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          1, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  private final RedisProcess redis = RedisProcess.start();
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final List<Boolean> reachable = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    redis.close();
    telemetry.close();
    var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @Test
  void waitsUntilTheStoreAnswersAndWritesNothing() throws Exception {
    try (SharedStore store = store()) {
      int _ = awaitAnswers(store);
      assertThat(store.describe()).contains("answers");
      assertThat(reachable).isNotEmpty().endsWith(true);
    }
    assertThat(redis.command("DBSIZE")).as("the epoch and the history").isEqualTo("2");
  }

  @Test
  void theWaitForAHangingStoreIsBounded() throws Exception {
    redis.hang();
    try (SharedStore store = store()) {
      assertThat(store.awaitAnswers().store()).isFalse();
      redis.goOn();
      int _ = awaitAnswers(store); // it may answer at any later time
    }
  }

  @Test
  void startsWithoutItsStore() throws Exception {
    redis.kill();
    try (SharedStore store = store()) {
      assertThat(store.awaitAnswers().store()).isFalse();
      assertThat(store.describe()).doesNotContain("answers");
    }
  }

  @Test
  void aStoreRestartedEmptyIsDetectedWithoutARequest() throws Exception {
    try (SharedStore store = store()) {
      int _ = awaitAnswers(store);
      assertThat(admitted(store, 3)).as("and then a refusal is cached").isEqualTo(2);
      redis.kill();
      redis.restart();
      await().until(() -> store.describe().contains("lost its data 1×"));
      await().until(() -> admitted(store, 1) == 1);
    }
  }

  @Test
  void aPostgresThatMayFallBackToNoTlsIsAWarning() {
    StoreAddress.Node node = new StoreAddress.Node("127.0.0.1", redis.port());
    for (SslMode mode : SslMode.values()) {
      try (Logged logged = Logged.by(Backends.class);
          SharedStore _ =
              store(new StoreAddress.Postgres(List.of(node), "db", mode, "throttlekit"), null)) {
        assertThat(logged.lines()).hasSize(mode == SslMode.PREFER ? 1 : 0);
        assertThat(logged.lines()).allMatch(line -> line.contains("set sslmode=verify-full"));
      }
    }
  }

  @Test
  void probesARefusingStoreAtIntervals() throws Exception {
    try (SharedStore store = store()) {
      int _ = awaitAnswers(store);
      redis.kill();
      double before = failures();
      assertThat(store.awaitAnswers().store()).isFalse();
      assertThat(failures() - before).isBetween(1.0, 150.0);
    }
  }

  @Test
  void globalLeasesAreReturnedBeforeDisconnecting() throws Exception {
    try (SharedStore store = region()) {
      int _ = awaitAnswers(store);
      assertThat(admittedOfAllRegions(store, 1)).isEqualTo(1);
    }
    try (SharedStore store = region()) {
      int _ = awaitAnswers(store);
      assertThat(admittedOfAllRegions(store, 200)).isEqualTo(99);
    }
  }

  @Test
  void theWarmUpOfCoordinatorAndEscrowWritesNothing() throws Exception {
    try (SharedStore store = region()) {
      int _ = awaitAnswers(store);
      assertThat(sum("throttlekit_coordinator_requests_total")).isGreaterThan(1);
      assertThat(sum("throttlekit_federation_coordinator_leases_total")).isZero();
      assertThat(sum("throttlekit_charges_total")).as("no request was charged").isZero();
      assertThat(redis.command("KEYS", "*").lines())
          .allMatch(key -> key.contains("epoch") || key.contains("history"));
    }
  }

  @Test
  void storeAndCoordinatorAreAwaitedIndependently() throws Exception {
    try (TcpProxy away = TcpProxy.to(redis.port())) {
      away.hang();
      try (SharedStore store = region(address(away.port()), redis.port())) {
        int _ = awaitAnswers(store, new SharedStore.Answering(false, true));
      }
      try (SharedStore store = region(address(redis.port()), away.port());
          Logged waits = Logged.by(SharedStore.class);
          Logged attempts = Logged.by(BackendState.class)) {
        int _ = awaitAnswers(store, new SharedStore.Answering(true, false));
        // An attempt to connect that outlasts the wait is reported when it ends.
        Supplier<List<String>> warnings =
            () ->
                Stream.concat(waits.lines().stream(), attempts.lines().stream())
                    .filter(line -> line.startsWith("WARNING "))
                    .toList();
        await().until(() -> !warnings.get().isEmpty());
        assertThat(warnings.get())
            .allMatch(line -> line.contains("redis://127.0.0.1:" + away.port()))
            .allMatch(line -> line.contains("; on_outage of each rule decides"))
            .noneMatch(line -> line.contains(Integer.toString(redis.port())));
      }
      away.goOn();
    }
  }

  @Test
  void theEscrowIsWarmedUpThoughTheCoordinatorHangs() throws Exception {
    try (TcpProxy away = TcpProxy.to(redis.port())) {
      away.hang();
      try (SharedStore store = region(address(redis.port()), away.port())) {
        int looks = awaitAnswers(store, new SharedStore.Answering(true, false));
        assertThat(sum("throttlekit_store_requests_total"))
            .as("more requests than the store alone receives at a start")
            .isGreaterThan(looks * STORE_LOOKS);
      }
      away.goOn();
    }
  }

  @Test
  void aSlowCoordinatorIsWarmedUpByFewRequests() throws Exception {
    try (TcpProxy far = TcpProxy.to(redis.port())) {
      far.delayReplies(100);
      try (SharedStore store = region(far.port())) {
        int looks = awaitAnswers(store);
        assertThat(sum("throttlekit_coordinator_requests_total")).isBetween(1.0, looks * 10.0);
        assertThat(sum("throttlekit_outage_decisions_total")).as("no request was decided").isZero();
      }
    }
  }

  private static int awaitAnswers(SharedStore store) {
    return awaitAnswers(store, new SharedStore.Answering(true, true));
  }

  /**
   * Waits until these answer, and returns how often the store has waited: on a busy machine the
   * first answers take longer than it waits.
   */
  private static int awaitAnswers(SharedStore store, SharedStore.Answering expected) {
    AtomicInteger waits = new AtomicInteger();
    await()
        .until(() -> {
          waits.incrementAndGet();
          return store.awaitAnswers().equals(expected);
        });
    return waits.get();
  }

  private double failures() throws IOException {
    return sum("throttlekit_store_failures_total{");
  }

  @Test
  void aRejectedAddressIsNamedAndNothingStaysConnected() {
    StoreAccess.StoreTls missing = new StoreAccess.StoreTls(Path.of("missing.pem"), null, true);
    StoreAddress coordinator =
        new StoreAddress.Standalone(true, new StoreAddress.Node("coordinator.example", 6379), 0);
    Login login = ConfigLoader.defaults().store().access().login();
    FederationConfig federation =
        new FederationConfig(
            "eu",
            coordinator,
            new StoreAccess(login, login, missing),
            "gale:",
            LONG_TIMEOUT,
            LONG_TIMEOUT,
            4);
    assertThatThrownBy(() -> store(federation))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(coordinator + ": ")
        .hasMessageContaining("missing.pem");
    await().until(() -> redis.command("CLIENT", "LIST").lines().count() == 1);
  }

  @Test
  void replicasOfAStoreElectTheOneThatSteers() throws Exception {
    try (SharedStore first = store();
        SharedStore second = store()) {
      int _ = awaitAnswers(first);
      int _ = awaitAnswers(second);
      assertThat(connections()).as("before the first call").isEqualTo(2);
      assertThat(first.steering()).isSameAs(first.steering());
      await()
          .until(() -> {
            String ofFirst = steering(first, "a");
            return !ofFirst.isEmpty() && ofFirst.equals(steering(second, "b"));
          });
      assertThat(connections()).isEqualTo(4);
    }
    await().until(() -> connections() == 0);
  }

  @Test
  void aStoreInMemoryHasAnExchangeOfItsOwn() {
    try (SharedStore first = store(new StoreAddress.Memory(), null);
        SharedStore second = store(new StoreAddress.Memory(), null)) {
      assertThat(steering(first, "a")).isEqualTo("a");
      assertThat(steering(first, "b")).isEqualTo("a");
      assertThat(steering(second, "b")).isEqualTo("b");
    }
  }

  /** Returns the id of the replica that steers; empty if the exchange does not answer yet. */
  private static String steering(SharedStore store, String replica) {
    return store
        .steering()
        .visit(new SteeringExchange.Visit(replica, 1, "", 0, 0, null, false))
        .handle((answer, failure) -> failure == null ? answer.steering() : "")
        .toCompletableFuture()
        .join();
  }

  private long connections() {
    return redis.command("CLIENT", "LIST").lines().count() - 1; // without the command's own
  }

  private double sum(String metric) throws IOException {
    return Objects.requireNonNull(telemetry.scrape())
        .page(null)
        .body()
        .lines()
        .filter(line -> line.startsWith(metric))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private SharedStore store() {
    return store(null);
  }

  /** Returns the store of a region whose store is the coordinator, too. */
  private SharedStore region() {
    return region(redis.port());
  }

  private SharedStore region(int coordinatorPort) {
    return region(address(redis.port()), coordinatorPort);
  }

  private SharedStore region(StoreAddress address, int coordinatorPort) {
    StoreConfig store = ConfigLoader.defaults().store();
    return store(
        address,
        new FederationConfig(
            "eu",
            address(coordinatorPort),
            store.access(),
            "gale:",
            LONG_TIMEOUT,
            LONG_TIMEOUT,
            4));
  }

  private static StoreAddress address(int port) {
    StoreAddress.Node node = new StoreAddress.Node("127.0.0.1", port);
    return new StoreAddress.Standalone(false, node, 0);
  }

  private SharedStore store(@Nullable FederationConfig federation) {
    return store(address(redis.port()), federation);
  }

  private SharedStore store(StoreAddress address, @Nullable FederationConfig federation) {
    StoreConfig base = ConfigLoader.defaults().store();
    StoreConfig config =
        new StoreConfig(
            address,
            base.access(),
            base.keyPrefix(),
            base.maxCounters(),
            new StoreConfig.Deadlines(LONG_TIMEOUT, LONG_TIMEOUT, LONG_TIMEOUT),
            base.breaker(),
            base.maxLeaseCells(),
            base.localShare(),
            base.cachedDenyDefault(),
            null);
    return new SharedStore(
        config,
        federation,
        loops,
        new StoreTelemetry(
            telemetry.meter(),
            TracerProvider.noop().get("test"),
            TracedValues.PLAIN,
            new RedisPools()),
        TimeSource.system(),
        reachable::add);
  }

  private static int admitted(SharedStore store, int requests) {
    return admitted(store, new FixedWindow(2, HOUR), new Tier.CachedDeny(), requests);
  }

  private static int admittedOfAllRegions(SharedStore store, int requests) {
    FixedWindow window = new FixedWindow(100, HOUR);
    Terms terms = new Terms("shop", List.of(window));
    Tier tier = new Tier.Global(new LeaseSize.Fixed(10), 0, 0, terms, DataLoss.REFILL, false);
    return admitted(store, window, tier, requests);
  }

  private static int admitted(SharedStore store, FixedWindow window, Tier tier, int requests) {
    Charge charge = new Charge(CounterKey.of("a"), window, 1, Overrun.REFUSE);
    TieredClaim claim =
        new TieredClaim(new Claim(Claim.Role.ENFORCED, List.of(charge)), tier, Outage.DENY);
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      CompletableFuture<TieredOutcome> later = new CompletableFuture<>();
      TieredOutcome now = store.tiers().acquire(List.of(claim), new Waiting(later));
      admitted += (now != null ? now : later.join()).admitted() ? 1 : 0;
    }
    return admitted;
  }

  private record Waiting(CompletableFuture<TieredOutcome> future) implements OutcomeCallback {
    @Override
    public void decided(TieredOutcome outcome) {
      future.complete(outcome);
    }

    @Override
    public void failed(StoreException cause) {
      future.completeExceptionally(cause);
    }
  }
}
