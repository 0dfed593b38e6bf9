package io.throttlekit.service.xds;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.protobuf.Any;
import com.google.protobuf.TextFormat;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.PolicyAdmission;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.XdsConfig;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.Setup;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Policies of a control plane that a test plays, and requests that they decide. */
final class ControlPlaneFixture {
  private static final LoadOptions OPTIONS =
      new LoadOptions(true, LoadOptions.MERGE_SWITCH, true, true, true, true);

  final ManualTime time = new ManualTime(0);
  final PolicyStore store = new PolicyStore();
  final List<Boolean> loads = new ArrayList<>();
  final XdsPolicies policies;
  private int faults;
  private boolean stopsAtNextLoad;
  private final InMemoryStore counters = new InMemoryStore(time, 1_000);
  private final PolicyAdmission admission =
      new PolicyAdmission(
          store::book,
          new Tiers(
              counters,
              time,
              (_, _) -> {},
              new TierSettings(1_000, 1_000_000, 1),
              TierListener.NONE),
          Setup.gate(time),
          Setup.NATIVE,
          false,
          Setup.metrics(store::book, counters));

  /**
   * @param folder where policies are kept, or null
   * @param overrides file of overrides, or null
   * @param maxParts of a response that is applied
   * @param faults number of loads that fail because of a fault of the program
   */
  ControlPlaneFixture(@Nullable Path folder, @Nullable Path overrides, int maxParts, int faults) {
    this(
        folder == null
            ? null
            : savedBy(folder, MoreExecutors.newDirectExecutorService(), Duration.ofMinutes(1)),
        overrides,
        maxParts,
        faults);
  }

  ControlPlaneFixture(SavedConfigs saved) {
    this(saved, null, 100_000, 0);
  }

  private ControlPlaneFixture(
      @Nullable SavedConfigs saved, @Nullable Path overrides, int maxParts, int faults) {
    this.faults = faults;
    XdsConfig config =
        new XdsConfig(
            "control-plane:18001",
            "node",
            Map.of(),
            Map.of(),
            null,
            new XdsConfig.Backoff(
                Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(1), 2, 0),
            1 << 20,
            null,
            overrides);
    this.policies = new XdsPolicies(config, OPTIONS, store, time, this::loaded, saved, maxParts);
    policies.loadSaved();
  }

  ControlPlaneFixture(@Nullable Path folder, @Nullable Path overrides, int maxParts) {
    this(folder, overrides, maxParts, 0);
  }

  ControlPlaneFixture(@Nullable Path folder, @Nullable Path overrides) {
    this(folder, overrides, 100_000);
  }

  ControlPlaneFixture() {
    this(null, null);
  }

  static SavedConfigs savedBy(Path folder, ExecutorService writer, Duration maxWait) {
    return new SavedConfigs(folder, writer, maxWait);
  }

  /** Lets the process stop as soon as the next policies have taken effect. */
  void stopAtNextLoad() {
    stopsAtNextLoad = true;
  }

  private void loaded(boolean good) {
    if (good && faults > 0) {
      faults--;
      throw new IllegalStateException("fault");
    }
    if (stopsAtNextLoad) {
      policies.close();
    }
    loads.add(good);
  }

  /** Receives configurations in text format, and returns the answer; empty for an ACK. */
  String receive(String version, String... configs) {
    return receive(version, List.of(configs).stream().map(ControlPlaneFixture::resource).toList());
  }

  String receive(String version, List<Any> resources) {
    Optional<String> answer = policies.received(version, resources);
    return answer.orElse("");
  }

  /** Receives one domain {@code d} with these descriptors in text format. */
  String receiveDomain(String descriptors) {
    return receive("1", "name: 'd' domain: 'd' " + descriptors);
  }

  static Any resource(String text) {
    try {
      return Any.pack(TextFormat.parse(text, RateLimitConfig.class));
    } catch (TextFormat.ParseException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Returns what Envoy Gateway sent, as it was recorded. */
  static List<Any> recorded(String name) {
    String resource = "/xds/envoy-gateway-" + name + ".txtpb";
    try (InputStream in = ControlPlaneFixture.class.getResourceAsStream(resource)) {
      byte[] bytes = Objects.requireNonNull(in, resource).readAllBytes();
      return List.of(new String(bytes, StandardCharsets.UTF_8).split("\n---\n")).stream()
          .map(ControlPlaneFixture::resource)
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the answer to a request of one unit. */
  Answer ask(String domain, String... entries) {
    Descriptor descriptor = new Descriptor(entries.clone(), null, Descriptor.HITS_UNSET, false);
    AtomicReference<@Nullable Answer> answered = new AtomicReference<>();
    Answer atOnce =
        admission.decide(
            new RateLimitRequest(domain, List.of(descriptor), 1),
            new AnswerCallback() {
              @Override
              public void answered(Answer answer) {
                answered.set(answer);
              }

              @Override
              public void failed(Throwable cause) {
                throw new AssertionError(cause);
              }
            });
    return atOnce != null ? atOnce : Objects.requireNonNull(answered.get());
  }

  /** Returns what is left after a request of one unit. */
  long left(String domain, String... entries) {
    return ask(domain, entries).verdicts().getFirst().remaining();
  }

  boolean admits(String domain, String... entries) {
    return ask(domain, entries).admitted();
  }

  PolicyBook book() {
    return Objects.requireNonNull(store.book());
  }

  @Nullable Rule rule(String domain, String... entries) {
    var level = book().domain(domain);
    return level == null ? null : level.match(entries);
  }

  ControlPlaneStatus status() {
    return Objects.requireNonNull(store.controlPlane());
  }

  List<String> rejectedParts() {
    return status().rejectedParts().stream().map(RejectedPart::text).toList();
  }

  /** Returns the rules in effect: path, and the limit in words. */
  List<String> rules() {
    return book().rules().stream().map(rule -> rule.path() + ": " + rule.inWords()).toList();
  }

  List<String> problems() {
    return store.status().problems().stream().map(Problem::toString).toList();
  }
}
