package io.throttlekit.envoy.xds;

import io.throttlekit.share.LimiterState;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shares of all Envoys, as the steering replica publishes them: the only state that outlives
 * it. Immutable.
 */
public final class SharePlan {
  /** The plan without limits. */
  public static final SharePlan EMPTY = new SharePlan();

  /**
   * Shares of one Envoy.
   *
   * @param shares by limit, in the order of {@link SharePlan#limits}
   */
  public record Part(String node, String token, Map<ClusterLimit, LimiterState> shares) {}

  private SharePlan() {}

  /**
   * Returns the number of the plan, which is the version of its record: greater than that of any
   * plan before, below 2^53.
   */
  public long number() {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the limits that are divided, with their values. */
  public Map<ClusterLimit, Integer> limits() {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the parts, with and without a stream, sorted by node id and token. */
  public Collection<Part> parts() {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the part of a stream; null if the plan has none for it. */
  public @Nullable Part part(String node, String token) {
    throw new UnsupportedOperationException("skeleton");
  }

  /** Returns the plan as text for a record, in lines; without its number. */
  public String text() {
    throw new UnsupportedOperationException("skeleton");
  }

  /**
   * Returns the plan of a record.
   *
   * @param number version of the record
   * @throws IllegalArgumentException when the text is not one of {@link #text}
   */
  public static SharePlan parse(String text, long number) {
    throw new UnsupportedOperationException("skeleton");
  }
}
