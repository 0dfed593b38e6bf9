package io.throttlekit.envoy.xds;

import java.util.Map;

/**
 * One discovery stream of an Envoy, as its replica reports it to the steering replica.
 *
 * <p>Node id and token together identify a part of the shares. The token is in every version that
 * the Envoy was sent, so an Envoy that moves to another replica keeps its part.
 *
 * @param node id of the Envoy
 * @param token {@value #TOKEN_LENGTH} hexadecimal digits
 * @param sent number of the plan that was pushed last on this stream; 0 for none
 * @param acknowledged number of the plan that was acknowledged last on this stream; 0 for none
 * @param mayApply largest share by limit that was pushed on this stream and not superseded by an
 *     acknowledged one; empty before the first push
 */
public record StreamState(
    String node, String token, long sent, long acknowledged, Map<ClusterLimit, Integer> mayApply) {
  /** Length of a token in characters. */
  public static final int TOKEN_LENGTH = 16;

  /**
   * @throws IllegalArgumentException when the node id or the token is unusable, or a number is
   *     negative, or more is acknowledged than sent
   */
  public StreamState {
    throw new UnsupportedOperationException("skeleton");
  }
}
