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
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;
import java.util.List;

/**
 * The service's path from the bytes of a request to those of its response, with its defaults and
 * counters in memory.
 */
final class Decider implements AutoCloseable {
  private static final String DOMAIN = "bench";
  private static final long COUNTERS = 100_000; // more than any benchmark has keys

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final RateLimitFrontEnd frontEnd;

  /**
   * Creates a decider with these policies.
   *
   * @param descriptors a list of YAML
   */
  Decider(String descriptors) {
    TimeSource time = TimeSource.system();
    frontEnd =
        MeasuredPath.inMemory(
                ConfigLoader.defaults(),
                policies(descriptors, time),
                new InMemoryStore(time, COUNTERS),
                telemetry,
                time)
            .path()
            .frontEnd();
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
    telemetry.close();
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
