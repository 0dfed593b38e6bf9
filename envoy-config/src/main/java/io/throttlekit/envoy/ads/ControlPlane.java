package io.throttlekit.envoy.ads;

import io.grpc.ManagedChannel;
import java.io.IOException;
import java.util.concurrent.Executor;

/** Opens connections to a control plane. Its {@code toString()} is in log lines. */
@FunctionalInterface
public interface ControlPlane {

  /**
   * Returns a new channel for one attempt to connect, which the caller shuts down.
   *
   * @param executor runs the callbacks of calls
   * @throws IOException when files that it needs cannot be used; the message names the file and the
   *     reason
   */
  ManagedChannel open(Executor executor) throws IOException;
}
