package io.throttlekit.service.warmup;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.throttlekit.http2.HeaderBlocks;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The requests that warm up the path to a shared store, and their policies.
 *
 * <p>Each request peeks with zero hits at counters that do not exist, or charges a limit of 0, for
 * which a leased rule requests a lease each second and is granted no units. The store handles them
 * as any others, and writes nothing.
 */
final class StoreTraffic {
  static final String POLICIES =
      """
      domain: warm-up
      descriptors:
        - {key: user, rate_limit: {unit: minute, requests_per_unit: 1000000}}
        - {key: path, rate_limit: {unit: hour, requests_per_unit: 1000}}
        - {key: closed, rate_limit: {unit: day, requests_per_unit: 1, tier: cached_deny}}
        - {key: tenant, rate_limit: {unit: second, requests_per_unit: 100, tier: leased}}
        - {key: none, rate_limit: {unit: second, requests_per_unit: 0, tier: leased}}
      """;

  /** Different users, so that the store gets different keys. */
  private static final int USERS = 500;

  private StoreTraffic() {}

  /** Returns callers that share the same requests, taken in turn. */
  static List<Caller> callers(int count) {
    Messages messages =
        new Messages(IntStream.range(0, USERS).boxed().flatMap(StoreTraffic::ofUser).toList());
    HeaderBlocks headers =
        HeaderBlocks.repeated(Traffic.envoy(RateLimitServiceGrpc.getShouldRateLimitMethod()));
    return Stream.generate(() -> new Caller(headers, messages)).limit(count).toList();
  }

  private static Stream<byte[]> ofUser(int user) {
    String name = "user-" + user;
    RateLimitDescriptor one = hits(0, "user", name);
    return Stream.of(
        request(one),
        request(hits(0, "path", "/api/v" + user)),
        switch (user % 5) {
          case 0 -> request(one, hits(0, "path", "/shop"));
          case 1 -> request(hits(0, "closed", name));
          case 2 -> request(hits(0, "tenant", name));
          case 3 -> request(hits(1, "none", name));
          default -> request(one);
        });
  }

  private static RateLimitDescriptor hits(long hits, String key, String value) {
    return RateLimitDescriptor.newBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value))
        .setHitsAddend(UInt64Value.of(hits))
        .build();
  }

  private static byte[] request(RateLimitDescriptor... descriptors) {
    return RateLimitRequest.newBuilder()
        .setDomain("warm-up")
        .addAllDescriptors(List.of(descriptors))
        .build()
        .toByteArray();
  }
}
