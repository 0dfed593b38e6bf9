package io.throttlekit.service.rls;

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.TextFormat;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.descriptors.Denial;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the dynamic metadata of an answer: the request, the metadata of the rules that admitted,
 * the denial metadata of the rule that refused and, if configured, its path. Immutable.
 */
final class MetadataWriter {
  private final boolean reportDecidingRule;

  MetadataWriter(boolean reportDecidingRule) {
    this.reportDecidingRule = reportDecidingRule;
  }

  Struct write(RateLimitRequest request, Answer answer) {
    Struct.Builder metadata = Struct.newBuilder();
    metadata.putFields("domain", text(request.getDomain()));
    ListValue.Builder descriptors = ListValue.newBuilder();
    for (RateLimitDescriptor descriptor : request.getDescriptorsList()) {
      descriptors.addValues(Value.newBuilder().setStructValue(descriptor(descriptor)));
    }
    metadata.putFields("descriptors", Value.newBuilder().setListValue(descriptors).build());
    if (request.getHitsAddend() != 0) {
      metadata.putFields("hitsAddend", number(Integer.toUnsignedLong(request.getHitsAddend())));
    }
    Map<String, @Nullable Object> ofRules = ofRules(answer);
    if (!ofRules.isEmpty()) {
      metadata.putFields("metadata", JsonValue.of(ofRules));
    }
    String decidedBy = reportDecidingRule ? decidedBy(answer) : "";
    if (!decidedBy.isEmpty()) {
      metadata.putFields("decidedBy", text(decidedBy));
    }
    return metadata.build();
  }

  private static Struct descriptor(RateLimitDescriptor descriptor) {
    ListValue.Builder entries = ListValue.newBuilder();
    for (Entry entry : descriptor.getEntriesList()) {
      entries.addValues(text(entry.getKey() + "=" + entry.getValue()));
    }
    Struct.Builder struct = Struct.newBuilder();
    struct.putFields("entries", Value.newBuilder().setListValue(entries).build());
    if (descriptor.hasLimit()) {
      String limit =
          TextFormat.printer().emittingSingleLine(true).printToString(descriptor.getLimit());
      struct.putFields("limit", text(limit.strip()));
    }
    if (descriptor.hasHitsAddend()) {
      struct.putFields("hitsAddend", number(descriptor.getHitsAddend().getValue()));
    }
    return struct.build();
  }

  private static Map<String, @Nullable Object> ofRules(Answer answer) {
    Map<String, @Nullable Object> merged = new LinkedHashMap<>();
    Rule refusing = ruleOf(answer.refusing());
    Denial denial = refusing == null ? null : refusing.denial();
    Map<String, Object> ofDenial = denial == null ? null : denial.metadata();
    if (ofDenial != null) {
      merge(merged, ofDenial);
    }
    for (Verdict verdict : answer.verdicts()) {
      Rule rule = verdict.rule();
      Map<String, Object> metadata = rule == null ? null : rule.metadata();
      if (metadata != null && !verdict.refused()) {
        merge(merged, metadata);
      }
    }
    return merged;
  }

  /**
   * Adds what {@code target} lacks. Nested maps are copied first, because they belong to policies.
   */
  private static void merge(Map<String, @Nullable Object> target, Map<?, ?> source) {
    source.forEach((key, value) -> {
      String name = String.valueOf(key);
      Object present = target.get(name);
      if (present instanceof Map<?, ?> first && value instanceof Map<?, ?> second) {
        Map<String, @Nullable Object> both = new LinkedHashMap<>();
        merge(both, first);
        merge(both, second);
        target.put(name, both);
      } else if (!target.containsKey(name)) {
        target.put(name, value);
      }
    });
  }

  /** Returns the path of the rule that a refusal reports; empty if the request is admitted. */
  private static String decidedBy(Answer answer) {
    Rule rule = ruleOf(answer.refusing());
    return rule == null ? "" : rule.path();
  }

  private static @Nullable Rule ruleOf(@Nullable Verdict verdict) {
    return verdict == null ? null : verdict.rule();
  }

  private static Value text(String value) {
    return Value.newBuilder().setStringValue(value).build();
  }

  private static Value number(long value) {
    return Value.newBuilder().setNumberValue((double) value).build();
  }
}
