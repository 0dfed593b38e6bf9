package io.throttlekit.service.xds;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.envoy.ads.ClientTls;
import io.throttlekit.envoy.ads.ConfigSubscription;
import io.throttlekit.envoy.ads.ControlPlaneAddress;
import io.throttlekit.envoy.ads.ReconnectBackoff;
import io.throttlekit.envoy.ads.SubscriptionSettings;
import io.throttlekit.service.config.XdsConfig;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the policies those of a control plane, to which it stays connected. */
public final class ControlPlaneUpdates implements AutoCloseable {
  /** Type of the resources. */
  public static final String TYPE_URL =
      "type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig";

  private static final Logger LOG = LoggerFactory.getLogger(ControlPlaneUpdates.class);
  private static final String WAITING =
      "waiting for policies of the control plane, as policies.require_at_start is true";
  private static final long LOOK_MILLIS = 20; // between two looks for the first policies
  private static final long REMIND_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final PolicyStore store;
  private final TimeSource time;
  private final Duration pollInterval;
  private final XdsPolicies policies;
  private final ScheduledThreadPoolExecutor timer;
  private final ConfigSubscription subscription;

  /**
   * Creates the connection without opening it.
   *
   * @param pollInterval time between two checks of the file of overrides
   * @param options features of this service that policies depend on
   * @param random varies the pauses between attempts to connect
   */
  public ControlPlaneUpdates(
      XdsConfig config,
      Duration pollInterval,
      LoadOptions options,
      PolicyStore store,
      TimeSource time,
      RandomGenerator random,
      PolicyReloader.Listener listener) {
    this.store = store;
    this.time = time;
    this.pollInterval = pollInterval;
    this.policies = new XdsPolicies(config, options, store, time, listener);
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("xds-policies").factory());
    // A connection that ends while the process stops would schedule another attempt.
    timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    XdsConfig.XdsTls tls = config.tls();
    ControlPlaneAddress address =
        new ControlPlaneAddress(
            config.server(),
            tls == null
                ? null
                : new ClientTls(tls.certificate(), tls.key(), tls.ca(), tls.serverName()),
            config.maxMessageBytes(),
            ControlPlaneAddress.DEFAULT_KEEP_ALIVE);
    this.subscription =
        new ConfigSubscription(
            settings(config),
            address,
            policies,
            time,
            (nanos, task) -> {
              var _ = timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            random);
  }

  private static SubscriptionSettings settings(XdsConfig config) {
    Struct.Builder metadata = Struct.newBuilder();
    config
        .nodeMetadata()
        .forEach((name, value) ->
            metadata.putFields(name, Value.newBuilder().setStringValue(value).build()));
    XdsConfig.Backoff pauses = config.backoff();
    return new SubscriptionSettings(
        TYPE_URL,
        Node.newBuilder().setId(config.nodeId()).setMetadata(metadata).build(),
        config.headers(),
        new ReconnectBackoff(
            pauses.connect(), pauses.lost(), pauses.max(), pauses.growth(), pauses.jitter()));
  }

  /** Loads the file of overrides, and what an earlier process has saved. */
  public void load() {
    policies.loadSaved();
  }

  /** Returns the errors of the file of overrides. */
  public List<Problem> overridesErrors() {
    return policies.overridesErrors();
  }

  /** Connects, and follows the control plane and the file of overrides. */
  public void start() {
    long nanos = pollInterval.toNanos();
    var _ = timer.scheduleWithFixedDelay(this::poll, nanos, nanos, TimeUnit.NANOSECONDS);
    // Without the version of saved policies: after a restart the control plane counts from 1 again,
    // and could take its own first version for the one that this process has.
    subscription.start("");
  }

  /**
   * Waits for policies.
   *
   * @param stopping ends the wait
   * @return whether there are any
   */
  public boolean awaitPolicies(CountDownLatch stopping) throws InterruptedException {
    long remindedNanos = time.monotonicNanos();
    if (store.book() == null) {
      LOG.info("{}", WAITING);
    }
    while (store.book() == null && !stopping.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      long now = time.monotonicNanos();
      if (now - remindedNanos >= REMIND_NANOS) {
        remindedNanos = now;
        LOG.warn("still {}", WAITING);
      }
    }
    return store.book() != null;
  }

  /** Ends the connection, and waits a limited time until the policies in effect are saved. */
  @Override
  public void close() {
    subscription.close();
    timer.shutdownNow();
    policies.close();
  }

  private void poll() {
    try {
      policies.pollOverrides();
    } catch (Throwable e) { // errors too: anything thrown would end the polling
      LOG.error("the overrides could not be read", e);
    }
  }
}
