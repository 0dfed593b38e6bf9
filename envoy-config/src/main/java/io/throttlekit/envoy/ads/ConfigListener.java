package io.throttlekit.envoy.ads;

import com.google.protobuf.Any;
import java.util.List;
import java.util.Optional;

/**
 * Receives the resources of a {@link ConfigSubscription}. Called by one thread at a time, the
 * subscription's own, which may be blocked for as long as the resources take to be applied.
 */
public interface ConfigListener {

  /**
   * Called with each response of the control plane: all its resources, in any order. Many equal the
   * one before them, in another order or under another version; so does the first one of each
   * stream.
   *
   * @param version an opaque text, which may be empty, and may repeat an earlier one with other
   *     resources
   * @param resources as received: their types and contents are not checked; may be empty
   * @return empty to acknowledge the response; else all that is wrong with it, for the people who
   *     run the control plane. A rejected response may have been applied in part
   */
  Optional<String> received(String version, List<Any> resources);

  /** Called when a connection is established. Resources may not follow for a long time. */
  default void connected() {}

  /**
   * Called when a connection could not be established, or is lost. The next attempt follows by
   * itself.
   *
   * @param reason one line of limited length, which may quote the control plane
   */
  default void disconnected(String reason) {}
}
