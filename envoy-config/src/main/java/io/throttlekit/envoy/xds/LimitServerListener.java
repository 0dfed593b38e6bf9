package io.throttlekit.envoy.xds;

/** Listener for acknowledged limits. Called by one thread at a time, and must not block it. */
@FunctionalInterface
public interface LimitServerListener {

  /**
   * Called when the Envoys together admit another number of concurrent requests, by the shares that
   * they acknowledged last: the final limit, and values on the way to it. Of changes that follow
   * each other within a tick, only the last is reported.
   *
   * @param requests concurrent requests of all Envoys, from 0
   * @param sinceNanos monotonic time of the last acknowledgement
   */
  void acknowledged(ClusterLimit limit, int requests, long sinceNanos);
}
