package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Policies for tests, written as code: {@code key("user").value("u-*").limit(5).of(children)}. */
public final class Descriptors {
  private final String key;
  private String value = "";
  private boolean share;
  private boolean valueToMetric;
  private boolean detailed;
  private int line;
  private @Nullable RuleSpec rule;

  private Descriptors(String key) {
    this.key = key;
  }

  public static Descriptors key(String key) {
    return new Descriptors(key);
  }

  public Descriptors value(String text) {
    this.value = text;
    return this;
  }

  public Descriptors share() {
    this.share = true;
    return this;
  }

  public Descriptors valueToMetric() {
    this.valueToMetric = true;
    return this;
  }

  public Descriptors detailed() {
    this.detailed = true;
    return this;
  }

  /** Sets the line of shop.yaml where it stands, in column 5. */
  public Descriptors line(int number) {
    this.line = number;
    return this;
  }

  /** Sets a limit of requests per minute. */
  public Descriptors limit(long requests) {
    return rule(List.of(perMinute(requests)), null);
  }

  public Descriptors unlimited() {
    return rule(List.of(), null);
  }

  public Descriptors rule(List<LimitSpec> limits, @Nullable Map<String, Object> metadata) {
    this.rule =
        new RuleSpec(
            location(),
            limits,
            "",
            List.of(),
            false,
            false,
            Sharing.DEFAULT,
            metadata,
            null,
            null,
            null);
    return this;
  }

  public DescriptorNode of(DescriptorNode... children) {
    return new DescriptorNode(
        location(), key, value, share, valueToMetric, detailed, rule, List.of(children));
  }

  public static LimitSpec perMinute(long requests) {
    return new LimitSpec(new FixedWindow(requests, 60_000), requests, LimitUnit.MINUTE, 60_000);
  }

  public static PolicyBook book(String domain, DescriptorNode... descriptors) {
    return PolicyBook.of(Map.of(domain, List.of(descriptors)));
  }

  /** Returns the rule of domain d that the entries reach. */
  public static @Nullable Rule match(PolicyBook book, String... entries) {
    Level policies = book.domain("d");
    return policies == null ? null : policies.match(entries);
  }

  private SourceLocation location() {
    return new SourceLocation("shop.yaml", line, 5);
  }
}
