package io.throttlekit.envoy.ceiling;

import com.google.protobuf.Any;

/**
 * One of the two ways in which xDS speaks of the same things.
 *
 * @param <Q> an Envoy's message
 * @param <A> an answer
 */
interface Wire<Q, A> {

  /** Reads what an Envoy says. */
  Asked read(Q message);

  /** Writes an answer with the one resource that there is. */
  A write(Any resource, String version, String nonce);
}
