package io.throttlekit.service.admission;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.RecordingConcurrencyListener;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Counters;
import io.throttlekit.tier.ManualScheduler;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Admission by some policies of a domain {@code d}, with short methods for tests. */
final class AdmissionFixture {
  final ManualTime time = new ManualTime(0);
  final RateLimitMetrics metrics;
  private final AtomicReference<@Nullable PolicyBook> book = new AtomicReference<>();
  final ManualScheduler timer = new ManualScheduler(time);
  final RecordingConcurrencyListener gated = new RecordingConcurrencyListener();
  final ConcurrencyLimiter gate = new ConcurrencyLimiter(time, timer, gated, () -> 1_500);
  final PolicyAdmission admission;

  /** Creates an admission; {@code descriptors} is null for no policies yet. */
  AdmissionFixture(
      Counted counted, @Nullable String descriptors, CompatibilityConfig compatibility) {
    if (descriptors != null) {
      load(descriptors);
    }
    InMemoryStore store = new InMemoryStore(time, 1_000);
    metrics = Setup.metrics(book::get, store);
    Counters counters =
        switch (counted) {
          case IN_MEMORY -> new MemoryCounters(store);
          case IN_A_STORE -> tiers(store, time);
        };
    admission = new PolicyAdmission(book::get, counters, gate, compatibility, false, metrics);
  }

  static AdmissionFixture by(String descriptors) {
    return new AdmissionFixture(Counted.IN_MEMORY, descriptors, Setup.NATIVE);
  }

  void load(String descriptors) {
    book.set(Book.of("domain: d\ndescriptors:\n" + descriptors.indent(2)));
  }

  Answer ask(Descriptor... descriptors) {
    return ask(1, descriptors);
  }

  Answer ask(long hits, Descriptor... descriptors) {
    return ask("d", hits, descriptors);
  }

  Answer ask(String domain, long hits, Descriptor... descriptors) {
    RateLimitRequest request = new RateLimitRequest(domain, List.of(descriptors), hits);
    return RecordingCallback.of(admission, request).answer();
  }

  /** Returns tiers in front of {@code store} whose timer never runs. */
  static Tiers tiers(CounterStore store, TimeSource time) {
    TierSettings settings = new TierSettings(1_000, 1_000_000, 1);
    return new Tiers(store, time, (_, _) -> {}, settings, TierListener.NONE);
  }

  static Descriptor charge(String key) {
    return new Descriptor(new String[] {key, "v"}, null, Descriptor.HITS_UNSET, false);
  }

  static Descriptor hits(long hits, String key) {
    return new Descriptor(new String[] {key, "v"}, null, hits, false);
  }

  static Descriptor refund(long hits, String key) {
    return new Descriptor(new String[] {key, "v"}, null, hits, true);
  }

  static long left(Answer answer, int index) {
    return answer.verdicts().get(index).remaining();
  }
}
