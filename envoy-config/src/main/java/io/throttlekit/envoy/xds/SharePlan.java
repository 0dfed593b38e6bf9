package io.throttlekit.envoy.xds;

import io.throttlekit.steering.LimiterState;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shares of all Envoys, as the steering replica publishes them: the only state that outlives
 * it. Immutable.
 */
public final class SharePlan {
  /** The plan without limits. */
  public static final SharePlan EMPTY = new SharePlan(0, Map.of(), Map.of());

  /**
   * Shares of one Envoy.
   *
   * @param node its id
   * @param token which distinguishes it from others with the same id
   * @param shares by limit
   */
  public record Part(String node, String token, Map<ClusterLimit, LimiterState> shares) {
    /** Copies the shares, in their order. */
    public Part {
      shares = Collections.unmodifiableMap(new LinkedHashMap<>(shares));
    }

    /** Returns the granted shares, which its Envoy is to apply. */
    Map<ClusterLimit, Integer> granted() {
      Map<ClusterLimit, Integer> granted = HashMap.newHashMap(shares.size());
      shares.forEach((limit, state) -> {
        if (state.granted() >= 0) {
          granted.put(limit, state.granted());
        }
      });
      return granted;
    }

    /** Returns the number of the plan that its Envoy has to acknowledge, or a later one. */
    long number() {
      return shares.values().stream().mapToLong(LimiterState::number).max().orElse(0);
    }

    private boolean hasSharesOf(@Nullable Part other) {
      return other != null
          && shares.keySet().equals(other.shares.keySet())
          && shares.entrySet().stream()
              .allMatch(share -> share.getValue().hasShareOf(other.shares.get(share.getKey())));
    }
  }

  private final long number;
  private final Map<ClusterLimit, Integer> limits;
  private final Map<String, Part> parts;

  /**
   * @param limits with their values, in the order of the text
   * @param parts by {@link StreamState#name}, in the order of the text
   */
  SharePlan(long number, Map<ClusterLimit, Integer> limits, Map<String, Part> parts) {
    this.number = number;
    this.limits = Collections.unmodifiableMap(new LinkedHashMap<>(limits));
    this.parts = Collections.unmodifiableMap(new LinkedHashMap<>(parts));
  }

  /**
   * Returns the plan of a record.
   *
   * @param number version of the record
   * @throws IllegalArgumentException when the text is not one of {@link #text}
   */
  public static SharePlan parse(String text, long number) {
    return SharePlanText.parse(text, number);
  }

  /**
   * Returns the number of the plan, which is the version of its record: greater than that of any
   * plan before, below 2^53.
   */
  public long number() {
    return number;
  }

  /** Returns the limits that are divided, with their values. */
  public Map<ClusterLimit, Integer> limits() {
    return limits;
  }

  /** Returns the parts, with and without a stream, sorted by node id and token. */
  public Collection<Part> parts() {
    return parts.values();
  }

  /** Returns the part of a stream; null if the plan has none for it. */
  public @Nullable Part part(String node, String token) {
    return parts.get(StreamState.name(node, token));
  }

  /** Returns the plan as text for a record, in lines; without its number. */
  public String text() {
    return SharePlanText.of(this);
  }

  /** Returns whether another plan differs in nothing but number and demand. */
  boolean hasSharesOf(SharePlan other) {
    return limits.equals(other.limits)
        && parts.keySet().equals(other.parts.keySet())
        && parts.entrySet().stream()
            .allMatch(part -> part.getValue().hasSharesOf(other.parts.get(part.getKey())));
  }
}
