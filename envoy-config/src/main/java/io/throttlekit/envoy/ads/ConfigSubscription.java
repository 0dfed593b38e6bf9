package io.throttlekit.envoy.ads;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import java.util.random.RandomGenerator;

/** A subscription to all resources of one type. */
public final class ConfigSubscription implements AutoCloseable {

  /**
   * Creates a subscription that is not started.
   *
   * @param listener called on a thread of the subscription
   * @param timer on any thread
   * @param random varies the pauses between attempts to connect
   */
  public ConfigSubscription(
      SubscriptionSettings settings,
      ControlPlane controlPlane,
      ConfigListener listener,
      TimeSource time,
      Timer timer,
      RandomGenerator random) {}

  /**
   * Connects, and from then on reconnects until {@link #close}.
   *
   * @param version of the resources that are in force already, from an earlier process; empty for
   *     none
   */
  public void start(String version) {}

  /** Ends the subscription without waiting. A call of the listener may still be in progress. */
  @Override
  public void close() {}
}
