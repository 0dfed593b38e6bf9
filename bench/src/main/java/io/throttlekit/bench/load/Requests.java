package io.throttlekit.bench.load;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;

/**
 * Requests of a load, serialized once: one descriptor of two entries each, spread over a number of
 * keys in an order that is the same in every run.
 */
public final class Requests {
  static final String DOMAIN = "bench";

  private final byte[][] bytes;

  /**
   * @param keys number of counters, from 1
   */
  public Requests(int keys) {
    bytes = new byte[keys][];
    for (int key = 0; key < keys; key++) {
      bytes[key] = request(key).toByteArray();
    }
  }

  /** Returns the request at a place in the load's order; the same array may be returned again. */
  byte[] at(long sequence) {
    return bytes[KeySpread.at(sequence, bytes.length)];
  }

  private static RateLimitRequest request(int key) {
    return RateLimitRequest.newBuilder()
        .setDomain(DOMAIN)
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(entry("path", "/checkout"))
                .addEntries(entry("user", "user-%05d".formatted(key))))
        .build();
  }

  private static RateLimitDescriptor.Entry entry(String key, String value) {
    return RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value).build();
  }
}
