package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.TimeSource;
import io.throttlekit.steering.InMemorySteeringExchange;
import io.throttlekit.steering.SteeringExchange;
import java.util.function.Supplier;

/**
 * The place of this process among the replicas that steer Envoys together.
 *
 * @param exchange supplies where they meet, always the same; called with the first visit, because
 *     it may connect
 * @param replica id of this process; not empty
 * @param incarnation random number of this process
 * @param answersAtOnce whether the exchange answers before its method returns
 */
public record Membership(
    Supplier<SteeringExchange> exchange, String replica, long incarnation, boolean answersAtOnce) {

  /** Returns the membership of a process without others. */
  public static Membership alone(TimeSource time, String replica) {
    SteeringExchange own = new InMemorySteeringExchange(time);
    return new Membership(() -> own, replica, 1, true);
  }
}
