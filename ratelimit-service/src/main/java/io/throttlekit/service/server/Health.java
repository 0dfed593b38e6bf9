package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Whether this process serves: it does while nothing speaks against it.
 *
 * <p>The same for everyone who asks: {@code grpc.health.v1} under the names {@code ""}, {@code
 * ratelimit} and that of the rate-limit service, and HTTP. Thread-safe.
 */
public final class Health {
  private static final List<String> NAMES =
      List.of(
          HealthStatusManager.SERVICE_NAME_ALL_SERVICES,
          "ratelimit",
          RateLimitServiceGrpc.SERVICE_NAME);

  private final HealthStatusManager grpc = new HealthStatusManager();
  private final Set<Obstacle> obstacles = EnumSet.of(Obstacle.STARTING);

  /** What speaks against serving. */
  public enum Obstacle {
    /** The process is not ready yet; so it begins. */
    STARTING,
    /** Policies are needed and none were loaded. */
    NO_POLICIES,
    /** The store is needed and cannot be reached. */
    STORE_UNREACHABLE,
    /** The process is about to stop. */
    DRAINING
  }

  /** The health of a process that is starting. */
  public Health() {
    publish();
  }

  /** From now on {@code obstacle} speaks against serving. */
  public synchronized void raise(Obstacle obstacle) {
    obstacles.add(obstacle);
    publish();
  }

  /** From now on {@code obstacle} does not speak against serving. */
  public synchronized void clear(Obstacle obstacle) {
    obstacles.remove(obstacle);
    publish();
  }

  /** Whether nothing speaks against serving. */
  public synchronized boolean serving() {
    return obstacles.isEmpty();
  }

  /** What speaks against serving, as of now. */
  public synchronized Set<Obstacle> obstacles() {
    return Set.copyOf(obstacles);
  }

  BindableService service() {
    return grpc.getHealthService();
  }

  private void publish() {
    ServingStatus status = obstacles.isEmpty() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    for (String name : NAMES) {
      grpc.setStatus(name, status);
    }
  }
}
