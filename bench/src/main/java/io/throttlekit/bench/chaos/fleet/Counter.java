package io.throttlekit.bench.chaos.fleet;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

/**
 * A limit that the load is charged to, and that admitted units are compared with.
 *
 * @param key the key of its rule, whose value is {@code all}
 * @param rule the fields of the rule besides limit and window, as YAML in braces
 * @param global whether all regions share it; else each has one of its own
 * @param refills whether a loss of data may admit one more limit ({@code on_data_loss: refill})
 * @param limit units of a window, from 1
 * @param windowMillis length of a window in ms
 * @param perSecond requests to each process
 */
public record Counter(
    String key,
    String rule,
    boolean global,
    boolean refills,
    long limit,
    long windowMillis,
    int perSecond) {
  public static final String DOMAIN = "chaos";

  private static final long DAY_MILLIS = 24 * 3_600_000;

  /** Returns the request for one unit. */
  public RateLimitRequest request() {
    return request(key, "all");
  }

  /** Returns a request for one unit of any counter of the policy. */
  public static RateLimitRequest request(String key, String value) {
    return RateLimitRequest.newBuilder()
        .setDomain(DOMAIN)
        .addDescriptors(descriptor(key, value))
        .build();
  }

  public static RateLimitDescriptor descriptor(String key, String value) {
    RateLimitDescriptor.Entry.Builder entry =
        RateLimitDescriptor.Entry.newBuilder()
            .setKeyBytes(ByteString.copyFromUtf8(key))
            .setValue(value);
    return RateLimitDescriptor.newBuilder().addEntries(entry).build();
  }

  /** Returns its rule for a policy file. */
  String yaml() {
    return """
      - key: %s
        rate_limit: {requests_per_unit: %d, every: %s, %s}
    """
        .formatted(key, limit, every(), rule);
  }

  /** Returns whole days as days, because a number of milliseconds has at most 12 digits. */
  private String every() {
    return windowMillis % DAY_MILLIS == 0 ? windowMillis / DAY_MILLIS + "d" : windowMillis + "ms";
  }
}
