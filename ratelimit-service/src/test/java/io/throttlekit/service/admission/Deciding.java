package io.throttlekit.service.admission;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.InMemoryStore;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Admission over some policies of a domain {@code d}, in short words. */
final class Deciding {
  final ManualTime time = new ManualTime(0);
  final RateLimitMetrics metrics;
  private final AtomicReference<@Nullable PolicyBook> book = new AtomicReference<>();
  private final MemoryAdmission admission;

  /** Null for no policies yet. */
  Deciding(@Nullable String descriptors, CompatibilityConfig compatibility) {
    if (descriptors != null) {
      load(descriptors);
    }
    InMemoryStore store = new InMemoryStore(time, 1_000);
    metrics = Setup.metrics(book::get, store);
    admission = new MemoryAdmission(book::get, store, compatibility, metrics);
  }

  static Deciding by(String descriptors) {
    return new Deciding(descriptors, Setup.NATIVE);
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
    return Objects.requireNonNull(admission.decide(request, new NeverLater()));
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
