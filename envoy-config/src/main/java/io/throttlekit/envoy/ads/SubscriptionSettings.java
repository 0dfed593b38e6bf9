package io.throttlekit.envoy.ads;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.grpc.Metadata;
import java.util.Map;

/**
 * Settings of a subscription.
 *
 * @param typeUrl type of the resources, such as {@code type.googleapis.com/package.Message}
 * @param node identifies this process to the control plane, which may select the resources by it
 * @param headers sent with each stream; names in lower case
 * @param backoff pauses between attempts to connect
 */
public record SubscriptionSettings(
    String typeUrl, Node node, Map<String, String> headers, ReconnectBackoff backoff) {

  /**
   * @throws IllegalArgumentException when a header has a name or a value that HTTP/2 does not allow
   */
  public SubscriptionSettings {
    headers = Map.copyOf(headers);
    metadata(headers); // fails now, not at the first connection
  }

  Metadata metadata() {
    return metadata(headers);
  }

  private static Metadata metadata(Map<String, String> headers) {
    Metadata metadata = new Metadata();
    headers.forEach((name, value) -> {
      if (!value.chars().allMatch(c -> c >= ' ' && c <= '~')) {
        throw new IllegalArgumentException(
            "the value of header " + name + " has characters other than printable ASCII");
      }
      metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    });
    return metadata;
  }
}
