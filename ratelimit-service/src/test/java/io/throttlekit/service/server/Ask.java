package io.throttlekit.service.server;

import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

/** Request messages for tests. */
public final class Ask {

  private Ask() {}

  /** A request to domain {@code x}. */
  public static RateLimitRequest x(RateLimitDescriptor... descriptors) {
    return to("x", descriptors);
  }

  /** A request. */
  public static RateLimitRequest to(String domain, RateLimitDescriptor... descriptors) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(domain);
    for (RateLimitDescriptor descriptor : descriptors) {
      request.addDescriptors(descriptor);
    }
    return request.build();
  }

  /** The same request with hits of its own. */
  public static RateLimitRequest hits(int hits, RateLimitRequest request) {
    return request.toBuilder().setHitsAddend(hits).build();
  }

  /** A descriptor: key, value, key, value … */
  public static RateLimitDescriptor entries(String... entries) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    return descriptor.build();
  }

  /** The same descriptor with hits of its own. */
  public static RateLimitDescriptor hits(long hits, RateLimitDescriptor descriptor) {
    return descriptor.toBuilder().setHitsAddend(UInt64Value.of(hits)).build();
  }

  /** The same descriptor as a refund, as newer protocols say it: field 4, varint 1. */
  public static RateLimitDescriptor refund(RateLimitDescriptor descriptor) {
    Field one = Field.newBuilder().addVarint(1).build();
    return descriptor.toBuilder()
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(4, one).build())
        .build();
  }

  /** The same descriptor with a limit of its own; the unit is a number of the protocol. */
  public static RateLimitDescriptor limit(
      int requestsPerUnit, int unit, RateLimitDescriptor descriptor) {
    return descriptor.toBuilder()
        .setLimit(
            RateLimitOverride.newBuilder().setRequestsPerUnit(requestsPerUnit).setUnitValue(unit))
        .build();
  }
}
