package io.throttlekit.bench.load;

import io.throttlekit.bench.command.Bounds;

/** Way of offering requests to a server. */
public sealed interface Load permits ClosedLoop, OpenLoop {

  /**
   * Offers the load and waits until every call has ended.
   *
   * @throws IllegalStateException if too many calls fail, since a load of errors measures nothing
   */
  LoadResult offer(Connections connections, Requests requests, Bounds bounds)
      throws InterruptedException;
}
