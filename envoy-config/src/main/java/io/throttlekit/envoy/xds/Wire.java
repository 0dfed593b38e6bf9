package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;

/**
 * One of the two variants of the xDS protocol.
 *
 * @param <Q> an Envoy's message
 * @param <A> a response
 */
interface Wire<Q, A> {

  /** Reads an Envoy's message. */
  DiscoveryMessage read(Q message);

  /** Writes a response with the only resource. */
  A write(Any resource, String version, String nonce);
}
