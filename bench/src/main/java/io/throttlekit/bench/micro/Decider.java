package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The service's path from the bytes of a request to those of its response, with its defaults and
 * counters in memory, or with units leased from them.
 */
final class Decider implements AutoCloseable {
  private static final String DOMAIN = "bench";
  private static final long COUNTERS = 100_000; // more than any benchmark has keys

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final RateLimitFrontEnd frontEnd;
  private final @Nullable Tiers tiers;

  /**
   * Creates a decider with these policies, whose tiers are ignored as without a shared store.
   *
   * @param descriptors a list of YAML
   */
  Decider(String descriptors) {
    this(descriptors, false);
  }

  private Decider(String descriptors, boolean shared) {
    ServiceConfig config = ConfigLoader.defaults();
    TimeSource time = TimeSource.system();
    PolicyStore policies = policies(descriptors, time);
    InMemoryStore counters = new InMemoryStore(time, COUNTERS);
    tiers = shared ? tiers(counters, time) : null;
    MeasuredPath measured =
        tiers == null
            ? MeasuredPath.inMemory(config, policies, counters, telemetry, time)
            : MeasuredPath.shared(config, policies, tiers, telemetry, time, null, null);
    frontEnd = measured.path().frontEnd();
  }

  /**
   * Returns a decider with these policies, whose leases are granted by a store in memory. Idle
   * units are not returned.
   */
  static Decider withTiers(String descriptors) {
    return new Decider(descriptors, true);
  }

  private static Tiers tiers(InMemoryStore counters, TimeSource time) {
    TierSettings settings = new TierSettings(COUNTERS, TimeUnit.SECONDS.toNanos(1), .1);
    return new Tiers(counters, time, (_, _) -> {}, settings, TierListener.NONE);
  }

  /** Returns the bytes of a request of one descriptor: keys and values in turn. */
  static byte[] request(String... entries) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    return io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.newBuilder()
        .setDomain(DOMAIN)
        .addDescriptors(descriptor)
        .build()
        .toByteArray();
  }

  /** Reads a request. */
  RateLimitRequest read(byte[] request) {
    return frontEnd.read(request);
  }

  /** Decides; an answer that needs a store is an error. */
  Answer decide(RateLimitRequest request) {
    return requireNonNull(frontEnd.decide(request, NoDeferredAnswer.CALLED));
  }

  /** Decides a request that needs a lease, which the store grants before this returns. */
  void lease(byte[] request) {
    if (frontEnd.decide(read(request), GrantedLease.DECIDED) != null) {
      throw new IllegalStateException("needed no lease");
    }
  }

  /** Releases a permit as Envoy's stream-done call does, without parsing that call's bytes. */
  Answer release(String lease) {
    String[] entries = {"upstream", "payments", "throttlekit_lease", lease};
    Descriptor descriptor = new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
    return requireNonNull(
        frontEnd.decide(
            new RateLimitRequest(DOMAIN, List.of(descriptor), 1), NoDeferredAnswer.CALLED));
  }

  /** Returns the bytes of the response. */
  byte[] write(RateLimitRequest request, Answer answer) {
    return frontEnd.write(request, answer);
  }

  private static PolicyStore policies(String descriptors, TimeSource time) {
    PolicySource source =
        new PolicySource("bench.yaml", "domain: " + DOMAIN + "\ndescriptors:\n" + descriptors);
    LoadResult loaded = new PolicyLoader(new LoadOptions(false)).load(List.of(source));
    PolicyStore policies = new PolicyStore();
    policies.loaded(
        requireNonNull(loaded.book(), () -> "not loaded: " + loaded.problems()),
        loaded.problems(),
        time.wallMillis());
    return policies;
  }

  @Override
  public void close() {
    if (tiers != null) {
      tiers.close();
    }
    telemetry.close();
  }

  private enum GrantedLease implements AnswerCallback {
    DECIDED;

    @Override
    public void answered(Answer answer) {}

    @Override
    public void failed(Throwable cause) {
      throw new IllegalStateException(cause);
    }
  }

  private enum NoDeferredAnswer implements AnswerCallback {
    CALLED;

    @Override
    public void answered(Answer answer) {
      throw new IllegalStateException("was to be answered at once");
    }

    @Override
    public void failed(Throwable cause) {
      throw new IllegalStateException(cause);
    }
  }
}
