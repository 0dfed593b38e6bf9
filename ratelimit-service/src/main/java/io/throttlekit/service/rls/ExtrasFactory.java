package io.throttlekit.service.rls;

import io.throttlekit.descriptors.policy.Denial;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.concurrency.RequestPermit;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.rls.ResponseExtras.Header;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Creates the extras of responses, for every protocol. Thread-safe. */
public final class ExtrasFactory {
  private final HeaderWriter headers;
  private final @Nullable MetadataWriter metadata;
  private final DeniedBody deniedBody;

  /** Whether a response may have extras although it admits and has no permit. */
  private final boolean always;

  /** Creates the extras that {@code config} and the rules require. */
  public ExtrasFactory(ResponseConfig config, CompatibilityConfig compatibility) {
    this.headers = new HeaderWriter(config);
    this.metadata =
        config.dynamicMetadata() ? new MetadataWriter(!compatibility.chargeRejected()) : null;
    this.deniedBody = config.deniedBody();
    this.always = metadata != null || headers.describeLimits();
  }

  /** Returns the extras of the response to {@code request}. */
  public ResponseExtras of(RateLimitRequest request, Answer answer) {
    // Almost every answer.
    if (answer.admitted() && !always && answer.permit() == null) {
      return ResponseExtras.NONE;
    }
    Verdict refusing = answer.refusing();
    Rule rule = refusing == null ? null : refusing.rule();
    Denial denial = rule == null ? null : rule.denial();
    String body = answer.admitted() ? "" : bodyOf(denial);
    List<Header> all = new ArrayList<>();
    headers.addTo(all, answer);
    if (!body.isEmpty()) {
      all.add(new Header("content-type", deniedBody.contentType()));
    }
    if (denial != null) {
      denial.headers().forEach((name, value) -> put(all, name, value));
    }
    return new ResponseExtras(all, body, metadataOf(request, answer));
  }

  private String bodyOf(@Nullable Denial denial) {
    String own = denial == null ? null : denial.body();
    return own == null ? deniedBody.text() : own;
  }

  private Map<String, @Nullable Object> metadataOf(RateLimitRequest request, Answer answer) {
    Map<String, @Nullable Object> all =
        metadata == null ? new LinkedHashMap<>() : metadata.write(request, answer);
    RequestPermit permit = answer.admitted() ? answer.permit() : null;
    // Not in a denial: its stream-done call would release a permit that was not granted.
    if (permit != null) {
      all.put("lease", permit.id());
    }
    return all;
  }

  /**
   * Sets a header, in place of one with the same name: headers of the rule override generated ones.
   */
  private static void put(List<Header> headers, String name, String value) {
    headers.removeIf(header -> header.name().equalsIgnoreCase(name));
    headers.add(new Header(name, value));
  }
}
