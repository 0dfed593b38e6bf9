package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Three regions with two processes and a Redis each, and one coordinator, each reached through a
 * proxy. The store of the last region is found through a Sentinel instead, and has a replica.
 *
 * <p>{@link #close} ends everything, and at the latest the end of this JVM. For one thread, except
 * {@link #node}.
 */
public final class ChaosFleet implements AutoCloseable {
  public static final int REGIONS = 3;
  public static final int PROCESSES = 2 * REGIONS;

  /** The region whose store fails over; the stores of the others are behind a proxy. */
  public static final int REPLICATED = REGIONS - 1;

  private final List<RedisProcess> redis = new ArrayList<>();
  private final List<StoreServer> stores = new ArrayList<>();
  private final List<TcpProxy> toStores = new ArrayList<>();
  private final List<List<TcpProxy>> toCoordinator = new ArrayList<>();
  private final AtomicReferenceArray<@Nullable ServiceNode> nodes =
      new AtomicReferenceArray<>(PROCESSES);
  private final List<StoreLoss> losses = new CopyOnWriteArrayList<>();
  private final CoordinatorClock clock = new CoordinatorClock(Counters.GLOBAL_WINDOW_MILLIS);
  private final Path folder;
  private final CoordinatorKind kind;
  private final StoreServer coordinator;
  private final @Nullable PostgresPair pair;
  private @Nullable Failover failover;
  private final Thread endWithJvm = Thread.ofPlatform().unstarted(this::endServers);
  private int started;
  private boolean ended;

  private ChaosFleet(Path folder, CoordinatorKind kind) throws IOException, SQLException {
    this.folder = folder;
    this.kind = kind;
    if (kind == CoordinatorKind.REDIS) {
      RedisProcess server = RedisProcess.start("--appendonly", "yes", "--appendfsync", "always");
      coordinator = StoreServer.of(server);
      pair = null;
    } else {
      // A killed server loses nothing without fsync: its writes are in the host's page cache.
      PostgresProcess server = PostgresProcess.start("fsync=off", "full_page_writes=off");
      SteppedPostgres.prepare(server);
      pair = PostgresPair.of(server);
      coordinator = StoreServer.of(pair);
    }
  }

  /**
   * Starts everything, and waits until it serves.
   *
   * @param folder for files of the processes; made if there is none
   */
  public static ChaosFleet start(Path folder, CoordinatorKind kind)
      throws IOException, SQLException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("policy.yaml"), Counters.policy());
    ChaosFleet fleet = new ChaosFleet(folder, kind);
    try {
      Runtime.getRuntime().addShutdownHook(fleet.endWithJvm);
      fleet.startRegions();
      List<CompletableFuture<Void>> starts = new ArrayList<>();
      for (int process = 0; process < PROCESSES; process++) {
        int number = process;
        starts.add(
            CompletableFuture.runAsync(
                () -> fleet.startUnchecked(number), Thread::startVirtualThread));
      }
      starts.forEach(CompletableFuture::join);
      return fleet;
    } catch (IOException | RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  private void startRegions() throws IOException {
    for (int region = 0; region < REGIONS; region++) {
      RedisProcess server = RedisProcess.start();
      redis.add(server);
      stores.add(StoreServer.of(server));
      toStores.add(TcpProxy.to(server.port()));
      toCoordinator.add(coordinator.ports().stream().map(TcpProxy::to).toList());
    }
    failover = Failover.of(redis.get(REPLICATED));
  }

  private void startUnchecked(int process) {
    try {
      startNode(process);
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  /** Restart of a killed server. */
  @FunctionalInterface
  public interface Start {
    void run() throws IOException;
  }

  /**
   * Restarts a killed server, unless the JVM is ending: the hook that ends the servers may have run
   * already.
   */
  public synchronized void startAgain(Start start) throws IOException {
    if (!ended) {
      start.run();
    }
  }

  private synchronized void endServers() {
    ended = true;
    if (failover != null) {
      failover.end();
    }
    redis.forEach(RedisProcess::kill);
    coordinator.end().run();
  }

  /** Starts a process, in place of an ended one if there was one, on another port. */
  public void startNode(int process) throws IOException {
    String name;
    synchronized (this) {
      name = "process-" + process + "-" + started++;
    }
    nodes.set(process, ServiceNode.start(folder, name, environment(regionOf(process))));
  }

  private Map<String, String> environment(int region) {
    Map<String, String> environment = new HashMap<>();
    environment.put("THROTTLEKIT_POLICIES_PATHS", folder.resolve("policy.yaml").toString());
    for (String listener : List.of("GRPC", "HTTP", "DEBUG")) {
      environment.put("THROTTLEKIT_" + listener + "_HOST", "127.0.0.1");
      environment.put("THROTTLEKIT_" + listener + "_PORT", "0");
    }
    environment.put("THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    environment.put("THROTTLEKIT_STORE_URI", storeUri(region));
    environment.put("THROTTLEKIT_FEDERATION_REGION", "region-" + region);
    environment.put(
        "THROTTLEKIT_FEDERATION_COORDINATOR",
        coordinator.uri().apply(toCoordinator(region).stream().map(TcpProxy::port).toList()));
    return environment;
  }

  private String storeUri(int region) {
    return region == REPLICATED && failover != null
        ? failover.uri()
        : stores.get(region).uri().apply(List.of(toStore(region).port()));
  }

  public static int regionOf(int process) {
    return process / 2;
  }

  public CoordinatorKind kind() {
    return kind;
  }

  /** Returns the newest process with a number; another thread may see an ended one. */
  public ServiceNode node(int process) {
    ServiceNode node = nodes.get(process);
    if (node == null) {
      throw new IllegalStateException("process " + process + " was never started");
    }
    return node;
  }

  public StoreServer store(int region) {
    return stores.get(region);
  }

  public StoreServer coordinator() {
    return coordinator;
  }

  /** Returns the proxy between a region and its store. */
  TcpProxy toStore(int region) {
    return toStores.get(region);
  }

  /** Returns the proxies between a region and each server of the coordinator. */
  List<TcpProxy> toCoordinator(int region) {
    return toCoordinator.get(region);
  }

  /** Returns the coordinator's clock. */
  public CoordinatorClock clock() {
    return clock;
  }

  /** Steps the coordinator's clock forward, which is possible only with PostgreSQL. */
  public void stepCoordinator(long millis) throws SQLException {
    SteppedPostgres.ahead(pair().primary(), clock.step(TimeSource.system().wallMillis(), millis));
  }

  /**
   * Returns the servers of the coordinator, where it has two.
   *
   * @throws IllegalStateException if it is a Redis
   */
  public PostgresPair pair() {
    PostgresPair known = pair;
    if (known == null) {
      throw new IllegalStateException("the coordinator is a Redis");
    }
    return known;
  }

  /** Lets the region's store write its data to its file. */
  public void saveSnapshot(int region) {
    redis.get(region).command("SAVE");
  }

  /** Kills a region's store: its counts may be lost. */
  public void kill(int region, Runnable kill) {
    long from = TimeSource.system().wallMillis();
    kill.run();
    losses.add(new StoreLoss(region, from, TimeSource.system().wallMillis()));
  }

  /**
   * Restarts a region's store without the snapshot of an earlier fault.
   *
   * @throws IOException if that cannot be removed
   */
  public void startEmpty(int region) throws IOException {
    StoreServer.startEmpty(redis.get(region));
  }

  /** Returns the times at which stores may have lost data, in order. */
  public List<StoreLoss> losses() {
    return List.copyOf(losses);
  }

  /** Returns the failover of the last region's store. */
  public Failover failover() {
    Failover known = failover;
    if (known == null) {
      throw new IllegalStateException("not started");
    }
    return known;
  }

  @Override
  public void close() {
    for (int process = 0; process < PROCESSES; process++) {
      ServiceNode node = nodes.get(process);
      if (node != null) {
        node.close();
      }
    }
    toStores.forEach(TcpProxy::close);
    toCoordinator.forEach(each -> each.forEach(TcpProxy::close));
    if (failover != null) {
      failover.close();
    }
    redis.forEach(RedisProcess::close);
    coordinator.close();
    try {
      Runtime.getRuntime().removeShutdownHook(endWithJvm);
    } catch (IllegalStateException _) {
      // the JVM is ending: the hook runs anyway
    }
  }
}
