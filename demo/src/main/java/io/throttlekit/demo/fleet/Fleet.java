package io.throttlekit.demo.fleet;

import io.throttlekit.demo.Undo;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** A store, replicas of the service on it, and Envoys, each of which knows all replicas. */
final class Fleet {
  /** The share of an Envoy until the service has sent one; the lowest that is none of them. */
  private static final int INITIAL = 1;

  private final Gate gate;
  private final List<Replica> replicas;
  private final List<FleetEnvoy> envoys;

  private Fleet(Gate gate, List<Replica> replicas, List<FleetEnvoy> envoys) {
    this.gate = gate;
    this.replicas = List.copyOf(replicas);
    this.envoys = List.copyOf(envoys);
  }

  /**
   * Starts all of it and waits until it is ready.
   *
   * @param upstream port of the upstream
   * @throws IOException if a process does not start
   */
  static Fleet start(FleetSettings settings, int upstream, Path folder, Undo started)
      throws IOException {
    Path policy = Files.writeString(folder.resolve("policy.yaml"), settings.policy());
    StoreKind.Running store = settings.store().start(started);
    List<Replica> replicas = new ArrayList<>();
    for (int i = 0; i < settings.replicas(); i++) {
      String name = String.valueOf((char) ('a' + i));
      replicas.add(
          Replica.begin(
              name,
              policy,
              store,
              settings.environment(),
              folder.resolve("replica-" + name),
              started));
    }
    for (Replica replica : replicas) {
      replica.awaitReady();
    }
    List<FleetEnvoy> envoys = new ArrayList<>();
    for (int weight : settings.weights()) {
      String name = "envoy-" + (envoys.size() + 1);
      String bootstrap = bootstrap(settings, name, replicas, upstream);
      Path own = Files.createDirectories(folder.resolve(name));
      EnvoyProcess process = EnvoyProcess.start(settings.envoy(), bootstrap, own);
      started.push(process::close);
      envoys.add(new FleetEnvoy(name, weight, process));
    }
    return new Fleet(settings.gate(), replicas, envoys);
  }

  private static String bootstrap(
      FleetSettings settings, String name, List<Replica> replicas, int upstream)
      throws IOException {
    String endpoints =
        replicas.stream()
            .map(replica -> endpoint(settings.gate(), replica))
            .collect(Collectors.joining("\n"));
    return settings
        .gate()
        .bootstrap()
        .replace("@NODE@", name)
        .replace(
            "@TIMEOUT@",
            String.format(Locale.ROOT, "%.3fs", settings.filterTimeout().toMillis() / 1e3))
        .replace("\n@REPLICAS@", "\n" + endpoints)
        .replace("@INITIAL@", Integer.toString(INITIAL))
        .replace("@UPSTREAM@", Integer.toString(upstream));
  }

  private static String endpoint(Gate gate, Replica replica) {
    int port =
        switch (gate) {
          case SERVICE -> replica.ports().grpc();
          case ENVOY -> replica.ports().sensors();
        };
    return ("              - {endpoint: {address: {socket_address: {address: 127.0.0.1, port_value:"
            + " %d}}}}")
        .formatted(port);
  }

  List<Replica> replicas() {
    return replicas;
  }

  List<FleetEnvoy> envoys() {
    return envoys;
  }

  /** Returns the replica that computes the limit now; empty if none does, as far as they answer. */
  Optional<Replica> steering() {
    return replicas.stream().filter(gate::steers).findFirst();
  }

  /** Returns the replica that computes the limit now, unless it is this one; empty if none does. */
  Optional<Replica> steeringBeside(Replica faulty) {
    return replicas.stream()
        .filter(replica -> replica != faulty && gate.steers(replica))
        .findFirst();
  }
}
