package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.TimeSource;
import io.throttlekit.steering.InMemorySteeringExchange;
import io.throttlekit.steering.SteeringExchange;

/**
 * The place of this process among the replicas that steer Envoys together.
 *
 * @param exchange where they meet
 * @param replica id of this process; not empty
 * @param incarnation random number of this process
 * @param answersAtOnce whether the exchange answers before its method returns
 */
public record ReplicaMembership(
    SteeringExchange exchange, String replica, long incarnation, boolean answersAtOnce) {

  /** Returns the membership of a process without others. */
  public static ReplicaMembership alone(TimeSource time, String replica) {
    return new ReplicaMembership(new InMemorySteeringExchange(time), replica, 1, true);
  }
}
