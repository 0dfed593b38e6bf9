package io.throttlekit.bench.chaos;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

/**
 * One limit that the load asks for, and that what is admitted is held against.
 *
 * @param key the key of its rule, whose value is {@code all}
 * @param rule the fields of the rule besides limit and window, as YAML in braces
 * @param global whether all regions share it; else each has one of its own
 * @param refills whether a loss of data may admit one more limit ({@code on_data_loss: refill})
 * @param limit units of a window, from 1
 * @param windowMillis length of a window in ms
 * @param perSecond requests to each process
 */
record Counter(
    String key,
    String rule,
    boolean global,
    boolean refills,
    long limit,
    long windowMillis,
    int perSecond) {
  static final String DOMAIN = "chaos";

  private static final long DAY_MILLIS = 24 * 3_600_000;

  /** The request for one unit. */
  RateLimitRequest request() {
    return request(key, "all");
  }

  /** A request for one unit of any counter of the policy. */
  static RateLimitRequest request(String key, String value) {
    return RateLimitRequest.newBuilder()
        .setDomain(DOMAIN)
        .addDescriptors(descriptor(key, value))
        .build();
  }

  static RateLimitDescriptor descriptor(String key, String value) {
    RateLimitDescriptor.Entry.Builder entry =
        RateLimitDescriptor.Entry.newBuilder()
            .setKeyBytes(ByteString.copyFromUtf8(key))
            .setValue(value);
    return RateLimitDescriptor.newBuilder().addEntries(entry).build();
  }

  /** Its rule in a policy file. */
  String yaml() {
    return """
      - key: %s
        rate_limit: {requests_per_unit: %d, every: %s, %s}
    """
        .formatted(key, limit, every(), rule);
  }

  /** Whole days as days: a number of ms has a bound. */
  private String every() {
    return windowMillis % DAY_MILLIS == 0 ? windowMillis / DAY_MILLIS + "d" : windowMillis + "ms";
  }
}
