package io.throttlekit.envoy;

import io.grpc.Context;

/**
 * Decides which node ids the client of a call may use. Thread-safe.
 *
 * <p>A server that binds node ids to certificates puts one into the context of each call.
 */
@FunctionalInterface
public interface NodeIds {

  /** Where the services of Envoys find the one of the current call. */
  Context.Key<NodeIds> KEY = Context.keyWithDefault("node-ids", _ -> true);

  /** Description of the status with which a stream ends that names another id. */
  String DENIED = "the client's certificate does not allow this node id";

  /** Returns whether the client may name this id. */
  boolean allow(String nodeId);

  /** Returns the one of the current call; any id is allowed where none was set. */
  static NodeIds ofCall() {
    return KEY.get();
  }
}
