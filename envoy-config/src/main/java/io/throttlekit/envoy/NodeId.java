package io.throttlekit.envoy;

/**
 * Checks the node id of an Envoy. Any client of a port can send any text as its id, and ids appear
 * in log lines and are kept in memory.
 */
public final class NodeId {
  // Characters; bounds what a client can make the service keep.
  private static final int MAX_LENGTH = 256;

  /** Error description for a sender whose id is not usable. */
  public static final String WANTED =
      "the first message must name a node id of at most " + MAX_LENGTH + " printable characters";

  private NodeId() {}

  /** Returns whether the id has 1 to 256 characters without control characters and line breaks. */
  public static boolean isUsable(String id) {
    return !id.isEmpty()
        && id.length() <= MAX_LENGTH
        && id.chars().noneMatch(NodeId::isUnprintable);
  }

  private static boolean isUnprintable(int c) {
    return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
  }
}
