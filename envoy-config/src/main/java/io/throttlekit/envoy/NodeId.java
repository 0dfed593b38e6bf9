package io.throttlekit.envoy;

/**
 * What an Envoy calls itself. Whoever reaches a port may send anything as one: ids stand in log
 * lines and are remembered.
 */
public final class NodeId {
  private static final int LONGEST = 256;

  /** What a sender is told whose id is not usable. */
  public static final String WANTED =
      "the first message must name a node id of at most " + LONGEST + " printable characters";

  private NodeId() {}

  /** Whether it has from 1 to 256 characters, none of them a control character or line break. */
  public static boolean isUsable(String id) {
    return !id.isEmpty() && id.length() <= LONGEST && id.chars().noneMatch(NodeId::isUnprintable);
  }

  private static boolean isUnprintable(int c) {
    return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
  }
}
