package io.throttlekit.service.config;

import java.util.List;

/**
 * How requests are described that come through Envoy's external authorization.
 *
 * @param domain of requests whose route names none; empty for none
 * @param descriptors at least one
 * @param admitsUndescribed whether requests that yield no descriptor may pass
 */
public record ExtAuthzConfig(
    String domain, List<RequestDescriptor> descriptors, boolean admitsUndescribed) {

  /** Keeps a copy. */
  public ExtAuthzConfig {
    descriptors = List.copyOf(descriptors);
  }
}
