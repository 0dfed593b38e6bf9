package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * The health of this process: it serves while there is no {@link Obstacle}.
 *
 * <p>The same for every client: {@code grpc.health.v1} under the names {@code ""}, {@code
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
  private final CountDownLatch served = new CountDownLatch(1);

  /** A reason not to serve. */
  public enum Obstacle {
    /** The process is not ready yet; the initial state. */
    STARTING("starting"),
    /** No policies were loaded, or those that were loaded have no domain and must have one. */
    NO_POLICIES("no policies"),
    /** The store is required and cannot be reached. */
    STORE_UNREACHABLE("the store is unreachable"),
    /** The process is about to stop. */
    DRAINING("draining");

    private final String words;

    Obstacle(String words) {
      this.words = words;
    }
  }

  /** Creates the health of a process that is starting. */
  public Health() {
    publish();
  }

  /** Adds an obstacle; the process does not serve until it is cleared. */
  public synchronized void raise(Obstacle obstacle) {
    obstacles.add(obstacle);
    publish();
  }

  /** Removes an obstacle; the process serves if it was the last. */
  public synchronized void clear(Obstacle obstacle) {
    obstacles.remove(obstacle);
    publish();
  }

  /** Returns whether there is no obstacle. */
  public synchronized boolean serving() {
    return obstacles.isEmpty();
  }

  /** Waits until there was no obstacle for the first time. */
  public void awaitServing() throws InterruptedException {
    served.await();
  }

  /** Returns whether start and warm-up are over, whatever other obstacles there are. */
  public synchronized boolean started() {
    return !obstacles.contains(Obstacle.STARTING);
  }

  /** Returns the obstacles, in words. */
  public synchronized List<String> obstacles() {
    return obstacles.stream().map(each -> each.words).toList();
  }

  BindableService service() {
    return grpc.getHealthService();
  }

  private void publish() {
    ServingStatus status = obstacles.isEmpty() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
    for (String name : NAMES) {
      grpc.setStatus(name, status);
    }
    if (obstacles.isEmpty()) {
      served.countDown();
    }
  }
}
