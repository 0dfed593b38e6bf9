package io.throttlekit.service.rls;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The fields of a request as a caller sent them in JSON, unchecked.
 *
 * @param domain empty if there is none
 * @param hitsAddend hits of descriptors without hits of their own, an unsigned number; 0 for unset
 * @param descriptors in the order of the request; owned, not copied
 */
public record RequestFields(String domain, int hitsAddend, List<DescriptorFields> descriptors) {

  @Override
  public String toString() {
    String all = descriptors.stream().map(String::valueOf).collect(Collectors.joining(", "));
    return domain + ", hits " + Integer.toUnsignedString(hitsAddend) + ": " + all;
  }
}
