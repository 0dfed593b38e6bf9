package io.throttlekit.descriptors;

/**
 * How policies are loaded.
 *
 * @param mergeDomains whether several files may describe one domain; otherwise that is an error
 * @param mergeSwitch what somebody would set to have domains merged, for the hint of that error
 */
public record LoadOptions(boolean mergeDomains, String mergeSwitch) {

  /** Options of a loader whose user knows the setting by the name of the configuration file. */
  public LoadOptions(boolean mergeDomains) {
    this(mergeDomains, "policies.merge_domains: true");
  }
}
