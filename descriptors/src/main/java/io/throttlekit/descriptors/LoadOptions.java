package io.throttlekit.descriptors;

/**
 * How policies are loaded.
 *
 * @param mergeDomains whether several files may describe one domain; otherwise that is an error
 * @param mergeSwitch what somebody would set to have domains merged, for the hint of that error
 * @param federated whether regions can share limits; otherwise {@code scope: global} is an error
 */
public record LoadOptions(boolean mergeDomains, String mergeSwitch, boolean federated) {

  /** Options of a loader whose user knows the setting by the name of the configuration file. */
  public LoadOptions(boolean mergeDomains) {
    this(mergeDomains, "policies.merge_domains: true");
  }

  /** Options of a loader that takes limits of all scopes. */
  public LoadOptions(boolean mergeDomains, String mergeSwitch) {
    this(mergeDomains, mergeSwitch, true);
  }

  /** The same for a service without a coordinator. */
  public LoadOptions withoutFederation() {
    return new LoadOptions(mergeDomains, mergeSwitch, false);
  }
}
