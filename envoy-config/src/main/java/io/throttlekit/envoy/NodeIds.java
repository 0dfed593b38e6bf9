package io.throttlekit.envoy;

import io.grpc.Context;

/**
 * Decides which node ids the client of a call may use. Thread-safe.
 *
 * <p>A server that binds node ids to certificates puts one into the context of each call.
 */
@FunctionalInterface
public interface NodeIds {

  /** Context key under which the services for Envoys find the node ids of the current call. */
  Context.Key<NodeIds> KEY = Context.keyWithDefault("node-ids", _ -> true);

  /** Status description with which a stream ends that uses a node id it may not use. */
  String DENIED = "the client's certificate does not allow this node id";

  /** Returns whether the client may use this id. */
  boolean allow(String nodeId);

  /** Returns the node ids of the current call; any id is allowed where none was set. */
  static NodeIds ofCall() {
    return KEY.get();
  }
}
