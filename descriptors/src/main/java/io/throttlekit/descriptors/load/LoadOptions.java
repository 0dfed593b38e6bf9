package io.throttlekit.descriptors.load;

/**
 * Options for loading policies.
 *
 * @param mergeDomains whether several files may describe one domain; otherwise that is an error
 * @param mergeSwitch setting that allows it, for the hint of that error
 * @param federated whether regions can share limits; otherwise {@code scope: global} is an error
 * @param steering whether concurrency limits can be pushed to Envoys; otherwise {@code gate: envoy}
 *     is an error
 * @param accessLogs whether access logs are read; otherwise {@code release: access_log} is an error
 * @param standsIn whether the policies are those of an installation of envoyproxy/ratelimit, or of
 *     its control plane, for which there are no remarks on what means the same there and cannot be
 *     written differently
 */
public record LoadOptions(
    boolean mergeDomains,
    String mergeSwitch,
    boolean federated,
    boolean steering,
    boolean accessLogs,
    boolean standsIn) {

  /** The setting of the configuration file that allows several files to describe one domain. */
  public static final String MERGE_SWITCH = "policies.merge_domains: true";

  /**
   * Creates options that allow limits of all scopes, and concurrency limits at the service and at
   * Envoys.
   */
  public LoadOptions(boolean mergeDomains) {
    this(mergeDomains, MERGE_SWITCH, true, true, true, false);
  }
}
