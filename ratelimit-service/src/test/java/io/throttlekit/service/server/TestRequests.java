package io.throttlekit.service.server;

import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

/** Builds request messages for tests. */
public final class TestRequests {

  private TestRequests() {}

  /** Returns a request to domain {@code x}. */
  public static RateLimitRequest x(RateLimitDescriptor... descriptors) {
    return to("x", descriptors);
  }

  /** Returns a request. */
  public static RateLimitRequest to(String domain, RateLimitDescriptor... descriptors) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(domain);
    for (RateLimitDescriptor descriptor : descriptors) {
      request.addDescriptors(descriptor);
    }
    return request.build();
  }

  /** Returns the request with its own hits. */
  public static RateLimitRequest hits(int hits, RateLimitRequest request) {
    return request.toBuilder().setHitsAddend(hits).build();
  }

  /** Returns a descriptor: key, value, key, value … */
  public static RateLimitDescriptor entries(String... entries) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    return descriptor.build();
  }

  /** Returns the descriptor with its own hits. */
  public static RateLimitDescriptor hits(long hits, RateLimitDescriptor descriptor) {
    return descriptor.toBuilder().setHitsAddend(UInt64Value.of(hits)).build();
  }

  /** Returns the descriptor as a refund, as newer protocols encode it: field 4, varint 1. */
  public static RateLimitDescriptor refund(RateLimitDescriptor descriptor) {
    Field one = Field.newBuilder().addVarint(1).build();
    return descriptor.toBuilder()
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(4, one).build())
        .build();
  }

  /** Returns the descriptor with its own limit; the unit is a number of the protocol. */
  public static RateLimitDescriptor limit(
      int requestsPerUnit, int unit, RateLimitDescriptor descriptor) {
    return descriptor.toBuilder()
        .setLimit(
            RateLimitOverride.newBuilder().setRequestsPerUnit(requestsPerUnit).setUnitValue(unit))
        .build();
  }
}
