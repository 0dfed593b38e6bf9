package io.throttlekit.service.admission;

import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.IgnoredReport;
import io.throttlekit.service.concurrency.StreamReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ends the permits that a stream-done call releases, with what its other descriptors report about
 * their requests.
 *
 * <p>A report is never needed for a release: one without a usable value is counted and ignored.
 * Thread-safe.
 */
final class StreamDoneDescriptors {
  private final ConcurrencyLimiter limiter;

  StreamDoneDescriptors(ConcurrencyLimiter limiter) {
    this.limiter = limiter;
  }

  /** Returns whether no rule applies to a descriptor, because it is about a permit. */
  static boolean isAboutPermit(Descriptor descriptor) {
    return indexIn(descriptor.entries()) >= 0;
  }

  /**
   * Ends the permits that the descriptors release, and returns whether any descriptor is about a
   * permit.
   */
  boolean end(List<Descriptor> descriptors) {
    boolean any = false;
    for (int i = 0; i < descriptors.size() && !any; i++) {
      any = isAboutPermit(descriptors.get(i));
    }
    if (any) {
      endAll(descriptors);
    }
    return any;
  }

  private void endAll(List<Descriptor> descriptors) {
    Map<String, StreamReport> reports = reports(descriptors);
    for (Descriptor descriptor : descriptors) {
      String[] entries = descriptor.entries();
      int at = indexIn(entries);
      if (at >= 0 && StreamDoneEntry.of(entries[at]) == StreamDoneEntry.LEASE) {
        String id = entries[at + 1];
        StreamReport report = reports.remove(id);
        limiter.permits().streamDone(id, report == null ? StreamReport.NONE : report);
      }
    }
    reports.keySet().forEach(_ -> limiter.listener().ignored(IgnoredReport.NO_RELEASE));
  }

  /** Returns the reports by the ids of the permits that they are about. */
  private Map<String, StreamReport> reports(List<Descriptor> descriptors) {
    Map<String, StreamReport> reports = HashMap.newHashMap(1); // of one request
    for (Descriptor descriptor : descriptors) {
      String[] entries = descriptor.entries();
      int at = indexIn(entries);
      StreamDoneEntry entry = at < 0 ? null : StreamDoneEntry.of(entries[at]);
      if (entry != null && entry != StreamDoneEntry.LEASE) {
        String id = entries[at + 1];
        StreamReport before = reports.getOrDefault(id, StreamReport.NONE);
        StreamReport after = with(before, entry, descriptor);
        if (after != null) {
          reports.put(id, after);
        }
      }
    }
    return reports;
  }

  /** Returns the report with the descriptor's value; null if that is counted as ignored. */
  private @Nullable StreamReport with(
      StreamReport report, StreamDoneEntry entry, Descriptor descriptor) {
    if (descriptor.hits() == Descriptor.HITS_UNSET) {
      limiter.listener().ignored(IgnoredReport.NO_VALUE);
      return null;
    }
    StreamReport after = descriptor.refund() ? null : report.with(entry, descriptor.hits());
    if (after == null) {
      limiter.listener().ignored(IgnoredReport.OUT_OF_RANGE);
    }
    return after;
  }

  /**
   * Returns the index of the entry that is about a permit, or −1 if there is none. A release takes
   * precedence: whatever stands beside it, it is a release.
   */
  private static int indexIn(String[] entries) {
    int report = -1;
    for (int i = 0; i + 1 < entries.length; i += 2) {
      StreamDoneEntry entry = StreamDoneEntry.of(entries[i]);
      if (entry == StreamDoneEntry.LEASE) {
        return i;
      }
      if (entry != null && report < 0) {
        report = i;
      }
    }
    return report;
  }
}
