package io.throttlekit.demo.fleet;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What a fleet consists of.
 *
 * @param envoy the executable
 * @param gate where the limit is enforced
 * @param replicas number of them, up to 26
 * @param weights parts of the load, one for each Envoy
 * @param policy of all replicas
 * @param filterTimeout timeout of Envoy's calls for requests, with {@link Gate#SERVICE}
 * @param environment additional variables of the replicas
 */
record FleetSettings(
    Path envoy,
    Gate gate,
    StoreKind store,
    int replicas,
    List<Integer> weights,
    String policy,
    Duration filterTimeout,
    Map<String, String> environment) {

  /** The uneven load of the four Envoys of the demo. */
  static final List<Integer> UNEVEN = List.of(8, 4, 2, 1);

  FleetSettings {
    weights = List.copyOf(weights);
    environment = Map.copyOf(environment);
  }
}
