package io.throttlekit.envoy;

import io.grpc.Context;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Decides which node ids the client of a call may use. Thread-safe.
 *
 * <p>A server that binds node ids to certificates puts one into the context of each call. Without
 * that, any client of a port can send any text as its id; ids appear in log lines and are kept in
 * memory, so unusable ones are rejected.
 */
@FunctionalInterface
public interface NodeIds {
  /** Context key under which the services for Envoys find the node ids of the current call. */
  Context.Key<NodeIds> KEY = Context.keyWithDefault("node-ids", _ -> true);

  /** Maximum length of an id in characters; bounds what a client can make the service keep. */
  int MAX_LENGTH = 256;

  /** Returns whether the client may use this id. */
  boolean allow(String nodeId);

  /** Returns the status with which a stream of this id is rejected; null if it may use the id. */
  default @Nullable Status rejection(String nodeId) {
    if (!isUsable(nodeId)) {
      return Status.INVALID_ARGUMENT.withDescription(
          "the first message must name a node id of at most "
              + MAX_LENGTH
              + " printable characters");
    }
    return allow(nodeId)
        ? null
        : Status.PERMISSION_DENIED.withDescription(
            "the client's certificate does not allow this node id");
  }

  /** Returns the node ids of the current call; any id is allowed where none was set. */
  static NodeIds ofCall() {
    return KEY.get();
  }

  /** Returns whether the id has 1 to 256 characters without control characters and line breaks. */
  static boolean isUsable(String id) {
    return !id.isEmpty()
        && id.length() <= MAX_LENGTH
        && id.chars().noneMatch(c -> Character.isISOControl(c) || c == '\u2028' || c == '\u2029');
  }
}
