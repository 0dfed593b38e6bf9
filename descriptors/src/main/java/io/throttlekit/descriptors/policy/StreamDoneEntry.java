package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.Nullable;

/**
 * Entries of Envoy's stream-done calls about a permit, whose id is the value. No rule applies to a
 * descriptor with such an entry.
 */
public enum StreamDoneEntry {
  /** Returns the permit. */
  LEASE(Rule.LEASE_ENTRY, "returns"),
  /** The descriptor's hits are the response code of the request, 0 if the client got none. */
  RESPONSE_CODE("throttlekit_response_code", "reports on"),
  /** The descriptor's hits are the latency of the backend in µs. */
  LATENCY("throttlekit_latency_us", "reports on"),
  /** The descriptor's hits are the gRPC status of the request. */
  GRPC_STATUS("throttlekit_grpc_status", "reports on");

  private static final String PREFIX = "throttlekit_";
  private static final StreamDoneEntry[] ALL = values(); // values() copies

  private final String key;
  private final String effect;

  StreamDoneEntry(String key, String effect) {
    this.key = key;
    this.effect = effect;
  }

  /** Returns the entry with this key, or null if any rule may use the key. */
  public static @Nullable StreamDoneEntry of(String key) {
    if (!key.startsWith(PREFIX)) { // nearly every key: one comparison, not one per constant
      return null;
    }
    for (StreamDoneEntry each : ALL) {
      if (each.key.equals(key)) {
        return each;
      }
    }
    return null;
  }

  /** Returns the key. */
  public String key() {
    return key;
  }

  /** Returns the effect on the permit, a verb in the third person. */
  public String effect() {
    return effect;
  }
}
