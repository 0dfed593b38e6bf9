package io.throttlekit.demo.fleet;

import io.throttlekit.demo.DemoService;
import io.throttlekit.demo.Undo;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.net.TcpProxy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A replica of the service as a process of its own: with ports that outlive it, and a connection to
 * the store that can be cut.
 *
 * <p>For one thread, but for {@link #metric}.
 */
public final class Replica {
  /** Long deadlines of calls to the store, because many processes share one machine. */
  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "THROTTLEKIT_STORE_DEADLINE", "500ms",
          "THROTTLEKIT_GRPC_PERMIT_KEEP_ALIVE_TIME", "500ms"); // Envoys notice a pause by pings

  private static final Duration PAGE_TIMEOUT = Duration.ofSeconds(10);

  private final String name;
  private final Path policy;
  private final Path folder;
  private final TcpProxy toStore;
  private final Map<String, String> environment;
  private final DemoService.Ports ports;
  private final HttpClient http = HttpClient.newHttpClient();
  private int starts;
  private volatile boolean suspended;
  private volatile DemoService service;

  private Replica(
      String name,
      Path policy,
      Path folder,
      TcpProxy toStore,
      Map<String, String> environment,
      DemoService.Ports ports)
      throws IOException {
    this.name = name;
    this.policy = policy;
    this.folder = folder;
    this.toStore = toStore;
    this.environment = environment;
    this.ports = ports;
    this.service = launch();
  }

  /**
   * Starts a replica without waiting; {@link #awaitReady} waits.
   *
   * @param name its node id
   * @param environment additional variables
   * @param folder of this replica only; created here
   */
  static Replica begin(
      String name,
      Path policy,
      StoreKind.Running store,
      Map<String, String> environment,
      Path folder,
      Undo started)
      throws IOException {
    Files.createDirectories(folder);
    TcpProxy toStore = TcpProxy.to(store.port());
    started.push(toStore::close);
    DemoService.Ports ports =
        new DemoService.Ports(reserved(started), reserved(started), reserved(started));
    Map<String, String> all = new HashMap<>(ENVIRONMENT);
    all.put("THROTTLEKIT_STORE_URI", store.uri().apply(toStore.port()));
    all.put("THROTTLEKIT_CONCURRENCY_NODE_ID", name);
    all.putAll(environment);
    Replica replica = new Replica(name, policy, folder, toStore, all, ports);
    started.push(replica::end);
    return replica;
  }

  private static int reserved(Undo started) {
    ReservedPort port = ReservedPort.take();
    started.push(port::close);
    return port.number();
  }

  private DemoService launch() throws IOException {
    return DemoService.begin(
        policy, ports, List.of(), environment, folder.resolve("log-" + ++starts));
  }

  /** Waits until it is ready. */
  public void awaitReady() throws IOException {
    int _ = service.awaitPort();
  }

  public String name() {
    return name;
  }

  DemoService.Ports ports() {
    return ports;
  }

  /** Kills it (SIGKILL). */
  void kill() throws IOException {
    service.process().kill();
  }

  /** Starts it again after {@link #kill}, on the same ports, without waiting. */
  void startAgain() throws IOException {
    service.close();
    service = launch();
  }

  /** Suspends it (SIGSTOP). */
  void suspend() throws IOException {
    service.process().suspend();
    suspended = true;
  }

  /** Continues it (SIGCONT). */
  void resume() throws IOException {
    service.process().resume();
    suspended = false;
  }

  /** Cuts its connections to the store, and each new one, until {@link #connect}. */
  void cut() {
    toStore.refuse();
  }

  /** Allows connections to the store again. */
  void connect() {
    toStore.goOn();
  }

  /** Returns its output since its last start. */
  public String log() throws IOException {
    return service.process().log();
  }

  /**
   * Returns a metric, summed over its series; 0 if there is none.
   *
   * @param series begin of the lines: the name, with all labels of a series or none
   * @throws IOException if it does not answer, for example because it is suspended
   */
  public double metric(String series) throws IOException {
    return page("/metrics")
        .lines()
        .filter(line -> line.startsWith(series + " ") || line.startsWith(series + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /**
   * Returns a debug page.
   *
   * @throws IOException if it does not answer
   */
  public String page(String path) throws IOException {
    if (suspended) {
      throw new IOException(name + " is suspended"); // at once, not after a timeout
    }
    URI uri = URI.create("http://127.0.0.1:" + ports.debug() + path);
    try {
      return http.send(
              HttpRequest.newBuilder(uri).timeout(PAGE_TIMEOUT).build(), BodyHandlers.ofString())
          .body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private void end() throws IOException {
    service.process().kill(); // a suspended one does not end by SIGTERM
    service.close();
    http.close();
  }
}
