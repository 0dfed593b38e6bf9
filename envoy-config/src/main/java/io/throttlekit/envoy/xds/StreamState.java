package io.throttlekit.envoy.xds;

import io.throttlekit.envoy.NodeIds;
import java.util.Map;

/**
 * One discovery stream of an Envoy, as its replica reports it to the steering replica.
 *
 * <p>Node id and token together identify a part of the shares. The token is in every version that
 * the Envoy was sent, so an Envoy that moves to another replica keeps its part.
 *
 * @param node id of the Envoy
 * @param token {@value #TOKEN_LENGTH} lower-case hexadecimal digits
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
   * @throws IllegalArgumentException when the node id or the token is unusable, a number is
   *     negative, or more is acknowledged than sent
   */
  public StreamState {
    if (!NodeIds.isUsable(node) || !isToken(token)) {
      throw new IllegalArgumentException("a stream has a usable node id and a token");
    }
    if (acknowledged < 0
        || acknowledged > sent
        || mayApply.values().stream().anyMatch(share -> share < 0)) {
      throw new IllegalArgumentException("a number of the stream is out of range");
    }
    mayApply = Map.copyOf(mayApply);
  }

  /** Returns whether a text has the form of a token. */
  static boolean isToken(String text) {
    return text.length() == TOKEN_LENGTH
        && text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  /** Returns the name of a part, which no other one has. */
  static String name(String node, String token) {
    return node + '\n' + token; // no node id has a line break
  }

  String name() {
    return name(node, token);
  }
}
