package io.throttlekit.service.xds;

import com.google.protobuf.Any;
import io.throttlekit.envoy.ads.MessageParts;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import java.util.List;

/** Size of what a control plane sent, before it is read. */
final class SentSize {
  private SentSize() {}

  /**
   * Returns the number of resources with the descriptors and other parts in them.
   *
   * @param max the count ends when there are more
   */
  static int of(List<Any> resources, int max) {
    int parts = 0;
    for (Any resource : resources) {
      parts++;
      if (parts > max) {
        break;
      }
      parts +=
          MessageParts.count(
              resource.getValue().newCodedInput(), RateLimitConfig.getDescriptor(), max - parts);
    }
    return parts;
  }
}
