package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.Nullable;

/**
 * One descriptor of a request.
 *
 * @param entries key, value, key, value …; owned by the descriptor, which does not copy them
 * @param override the limit that the request brings, or {@code null}
 * @param hits units to charge, 0 to look without charging, or {@link #HITS_UNSET}
 * @param refund whether the hits are returned instead of charged
 */
@SuppressWarnings("ArrayRecordComponent") // the hot path reads the array; nothing compares these
public record Descriptor(
    String[] entries, @Nullable LimitOverride override, long hits, boolean refund) {

  /** The descriptor has no hits of its own: those of the request count. */
  public static final long HITS_UNSET = -1;
}
