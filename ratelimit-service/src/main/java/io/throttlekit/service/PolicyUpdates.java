package io.throttlekit.service;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.XdsConfig;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.server.Health.Obstacle;
import io.throttlekit.service.server.StartException;
import io.throttlekit.service.xds.ControlPlaneUpdates;
import java.security.SecureRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the policies up to date, from files or from a control plane, and the health that depends on
 * them.
 */
final class PolicyUpdates implements AutoCloseable {
  private final ServiceConfig config;
  private final PolicyStore policies;
  private final Health health;
  private final Consumer<Boolean> counter;
  private final Consumer<PolicyBook> follower;
  private final @Nullable PolicyReloader files;
  private final @Nullable ControlPlaneUpdates controlPlane;
  private @Nullable PolicyBook followed;

  /**
   * Creates updates that have not begun.
   *
   * @param counter receives of each load whether it was good
   * @param follower receives each policies that take effect
   */
  PolicyUpdates(
      ServiceConfig config,
      PolicyStore policies,
      Health health,
      TimeSource time,
      Consumer<Boolean> counter,
      Consumer<PolicyBook> follower) {
    this.config = config;
    this.policies = policies;
    this.health = health;
    this.counter = counter;
    this.follower = follower;
    XdsConfig xds = config.policies().xds();
    this.files =
        xds != null
            ? null
            : new PolicyReloader(
                config.policies(), PolicyReloader.options(config), policies, time, this::loaded);
    this.controlPlane =
        xds == null
            ? null
            : new ControlPlaneUpdates(
                xds,
                config.policies().pollInterval(),
                PolicyReloader.options(config),
                policies,
                time,
                new SecureRandom(),
                this::loaded);
  }

  /**
   * Loads the policies, and waits for those of a control plane where they are required.
   *
   * @param stopping ends the wait
   * @return false if it was ended
   * @throws StartException if there are no valid policies, and they are required
   */
  boolean load(CountDownLatch stopping) {
    reportHealth();
    if (files != null) {
      files.poll();
    }
    if (controlPlane != null && !load(controlPlane, stopping)) {
      return false;
    }
    if (policies.book() == null && config.policies().requireAtStart()) {
      throw new StartException("no policies: " + policies.status().lastError(), null);
    }
    return true;
  }

  private boolean load(ControlPlaneUpdates updates, CountDownLatch stopping) {
    updates.load();
    if (!config.policies().requireAtStart()) {
      return true;
    }
    if (!updates.overridesErrors().isEmpty()) {
      throw new StartException("the overrides have errors: " + updates.overridesErrors(), null);
    }
    updates.start();
    try {
      boolean loaded = updates.awaitPolicies(stopping);
      follow(); // which the thread of the updates may not have done yet
      return loaded;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Starts to follow changes, once the service listens. */
  void start() {
    if (files != null) {
      files.start();
    }
    if (controlPlane != null && !config.policies().requireAtStart()) {
      controlPlane.start();
    }
  }

  @Override
  public void close() {
    if (files != null) {
      files.close();
    }
    if (controlPlane != null) {
      controlPlane.close();
    }
  }

  private synchronized void loaded(boolean good) {
    counter.accept(good);
    follow();
    reportHealth();
  }

  private synchronized void follow() {
    PolicyBook book = policies.book();
    // A failed load leaves the previous policies in effect.
    if (book != null && book != followed) {
      followed = book;
      follower.accept(book);
    }
  }

  private void reportHealth() {
    PolicyBook book = policies.book();
    boolean missing =
        book == null
            ? !config.health().readyWithoutPolicies() || config.health().needsPolicies()
            : config.health().needsPolicies() && book.domains().isEmpty();
    if (missing) {
      health.raise(Obstacle.NO_POLICIES);
    } else {
      health.clear(Obstacle.NO_POLICIES);
    }
  }
}
