package io.throttlekit.service.rls;

import io.throttlekit.descriptors.policy.Denial;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the dynamic metadata of an answer: the request, the metadata of the rules that admitted,
 * the denial metadata of the rule that refused and, if configured, its path. Immutable.
 *
 * @param reportDecidingRule whether that path is reported
 */
record MetadataWriter(boolean reportDecidingRule) {
  /** Returns the metadata: texts, numbers, booleans, lists and maps. */
  Map<String, @Nullable Object> write(RateLimitRequest request, Answer answer) {
    Map<String, @Nullable Object> metadata = new LinkedHashMap<>();
    metadata.put("domain", request.domain());
    metadata.put("descriptors", request.descriptors().stream().map(MetadataWriter::of).toList());
    if (request.hitsAddend() != 0) {
      metadata.put("hitsAddend", request.hitsAddend());
    }
    Map<String, @Nullable Object> ofRules = ofRules(answer);
    if (!ofRules.isEmpty()) {
      metadata.put("metadata", ofRules);
    }
    String decidedBy = reportDecidingRule ? decidedBy(answer) : "";
    if (!decidedBy.isEmpty()) {
      metadata.put("decidedBy", decidedBy);
    }
    return metadata;
  }

  private static Map<String, Object> of(Descriptor descriptor) {
    String[] texts = descriptor.entries();
    List<String> entries = new ArrayList<>(texts.length / 2);
    for (int i = 0; i < texts.length; i += 2) {
      entries.add(texts[i] + "=" + texts[i + 1]);
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("entries", entries);
    LimitOverride limit = descriptor.override();
    if (limit != null) { // as protobuf's text format, which leaves out zeros
      String units =
          limit.requestsPerUnit() == 0 ? "" : "requests_per_unit: " + limit.requestsPerUnit() + " ";
      fields.put("limit", units + "unit: " + limit.unit());
    }
    if (descriptor.hits() != Descriptor.HITS_UNSET) {
      fields.put("hitsAddend", descriptor.hits());
    }
    return fields;
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
}
