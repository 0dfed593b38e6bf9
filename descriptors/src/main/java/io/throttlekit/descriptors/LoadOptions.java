package io.throttlekit.descriptors;

/**
 * How policies are loaded.
 *
 * @param mergeDomains whether several files may describe one domain; otherwise that is an error
 * @param mergeSwitch what somebody would set to have domains merged, for the hint of that error
 * @param federated whether regions can share limits; otherwise {@code scope: global} is an error
 * @param steering whether ceilings that are pushed to Envoys would move; otherwise {@code gate:
 *     envoy} is an error
 * @param accessLogs whether access logs are read; otherwise {@code release: access_log} is an error
 */
public record LoadOptions(
    boolean mergeDomains,
    String mergeSwitch,
    boolean federated,
    boolean steering,
    boolean accessLogs) {

  /** Options of a loader whose user knows the setting by the name of the configuration file. */
  public LoadOptions(boolean mergeDomains) {
    this(mergeDomains, "policies.merge_domains: true");
  }

  /** Options of a loader that takes limits of all scopes, and ceilings of all gates. */
  public LoadOptions(boolean mergeDomains, String mergeSwitch) {
    this(mergeDomains, mergeSwitch, true, true, true);
  }

  /** The same for a service without a coordinator. */
  public LoadOptions withoutFederation() {
    return new LoadOptions(mergeDomains, mergeSwitch, false, steering, accessLogs);
  }

  /** The same for a service that would push ceilings to Envoys and learns nothing. */
  public LoadOptions withoutSteering() {
    return new LoadOptions(mergeDomains, mergeSwitch, federated, false, accessLogs);
  }

  /** The same for a service that does not read access logs. */
  public LoadOptions withoutAccessLogs() {
    return new LoadOptions(mergeDomains, mergeSwitch, federated, steering, false);
  }
}
