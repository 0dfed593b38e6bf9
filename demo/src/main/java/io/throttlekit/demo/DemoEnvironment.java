package io.throttlekit.demo;

import io.throttlekit.testkit.envoy.EnvoyBinary;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** The Envoy of a demo, its progress messages, and the request to stop. Thread-safe. */
public final class DemoEnvironment {
  private final Function<Consumer<String>, EnvoyLookup> envoys;
  private final Consumer<String> progress;
  private final CountDownLatch stop = new CountDownLatch(1);

  /**
   * @param envoys finds Envoy; its argument receives progress messages
   * @param progress receives one-line messages about slow steps
   */
  public DemoEnvironment(
      Function<Consumer<String>, EnvoyLookup> envoys, Consumer<String> progress) {
    this.envoys = envoys;
    this.progress = progress;
  }

  /** Creates an environment with the Envoy of this machine. */
  public static DemoEnvironment ofThisMachine(Consumer<String> progress) {
    return new DemoEnvironment(EnvoyBinary::find, progress);
  }

  /** Ends the demo soon. */
  public void stop() {
    stop.countDown();
  }

  /** Returns whether {@link #stop} was called. */
  public boolean isStopped() {
    return stop.getCount() == 0;
  }

  /** Waits for {@link #stop}. Returns whether it was called in time. */
  public boolean awaitStop(long timeout, TimeUnit unit) throws InterruptedException {
    return stop.await(timeout, unit);
  }

  /** Reports a slow step. */
  public void report(String message) {
    progress.accept(message);
  }

  /**
   * Looks for Envoy. The result is no {@link Unusable}.
   *
   * @throws UnusableEnvoyException if the configured Envoy cannot be used
   */
  EnvoyLookup findEnvoy() throws UnusableEnvoyException {
    EnvoyLookup found = envoys.apply(progress);
    if (found instanceof Unusable(String reason)) {
      throw new UnusableEnvoyException(reason);
    }
    return found;
  }

  /**
   * Returns the program of Envoy.
   *
   * @throws UnusableEnvoyException if the configured Envoy cannot be used
   * @throws IOException if there is none
   */
  public Path envoy() throws IOException {
    return switch (findEnvoy()) {
      case Found(Path program, String _) -> program;
      case Unavailable(String reason) -> throw new IOException("no Envoy: " + reason);
      case Unusable(String reason) -> throw new IllegalStateException(reason); // see findEnvoy
    };
  }
}
