package io.throttlekit.service.config;

import java.util.List;

/**
 * Configuration of Envoy's external authorization: how its requests become descriptors.
 *
 * @param domain for requests whose route names none; empty for none
 * @param descriptors at least one
 * @param admitsUndescribed whether requests that yield no descriptor are allowed
 */
public record ExtAuthzConfig(
    String domain, List<RequestDescriptor> descriptors, boolean admitsUndescribed) {

  /** Copies the list. */
  public ExtAuthzConfig {
    descriptors = List.copyOf(descriptors);
  }
}
