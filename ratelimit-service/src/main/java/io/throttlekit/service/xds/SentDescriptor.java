package io.throttlekit.service.xds;

import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors of one key and value at one place of a domain, with those nested in them. A
 * control plane may send several: Envoy Gateway sends one for an exact and another for a distinct
 * rule on the same addresses, the first with a limit and the second with a nested descriptor.
 *
 * <p>If the service rejects what they say, they fall back step by step: to what was sent without
 * overrides, to what was accepted before, to a descriptor without a limit, or to none. The
 * descriptors nested in them are not affected. For one thread.
 */
final class SentDescriptor {
  /** As many nested descriptors as a policy file may have. */
  static final int MAX_DEPTH = 64;

  /**
   * Characters of the keys and values that lead to a descriptor. Each rule repeats them where it is
   * named; Envoy Gateway's have some hundred.
   */
  static final int MAX_PATH = 16_384;

  /** Descriptors of one key and value, which are compared with each other. */
  static final int MAX_SAME = 100;

  /** What counts of a descriptor. */
  private enum Step {
    SENT,
    BEFORE,
    WITHOUT_LIMIT,
    NOTHING
  }

  /**
   * Key and value of a descriptor; an empty value matches any. Comparable, so that a map of entries
   * with one hash, which are easily made, remains a search tree.
   */
  private record Entry(String key, String value) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      int byKey = key.compareTo(other.key);
      return byKey != 0 ? byKey : value.compareTo(other.value);
    }
  }

  private final SourceLocation at;
  private final List<String> entries;
  private final Map<Entry, SentDescriptor> children = new LinkedHashMap<>();
  private List<RateLimitDescriptor> own; // without those nested in them; empty for the root
  private Step step = Step.SENT;
  private boolean overridden; // at the last attempt
  private boolean plain; // overrides do not apply

  private SentDescriptor(SourceLocation at, List<String> entries) {
    this.at = at;
    this.entries = List.copyOf(entries);
    this.own = new ArrayList<>();
  }

  /**
   * Returns a root, whose children are the descriptors of a domain.
   *
   * @param all receives each descriptor; its index, from 1, is the number in its place
   */
  static SentDescriptor root(
      String domain, List<RateLimitDescriptor> descriptors, List<SentDescriptor> all) {
    SentDescriptor root = new SentDescriptor(Place.of(domain), List.of());
    root.addAll(domain, descriptors, all);
    return root;
  }

  private void addAll(
      String domain, List<RateLimitDescriptor> descriptors, List<SentDescriptor> all) {
    for (RateLimitDescriptor descriptor : descriptors) {
      Entry entry = new Entry(descriptor.getKey(), descriptor.getValue());
      SentDescriptor child = children.get(entry);
      if (child == null) {
        List<String> path = new ArrayList<>(entries);
        path.add(entry.key());
        path.add(entry.value());
        child = new SentDescriptor(Place.of(domain, path, all.size() + 1), path);
        all.add(child);
        children.put(entry, child);
      }
      if (child.own.size() > MAX_SAME) {
        continue; // reported, too
      }
      if (path(child) >= MAX_DEPTH) {
        child.own.add(descriptor); // with the nested ones, which are reported
      } else {
        child.own.add(descriptor.toBuilder().clearDescriptors().build());
        if (!child.isTooLong()) {
          child.addAll(domain, descriptor.getDescriptorsList(), all);
        }
      }
    }
  }

  private static int path(SentDescriptor descriptor) {
    return descriptor.entries.size() / 2;
  }

  /** Returns whether the keys and values that lead to it are too long, which is an error. */
  boolean isTooLong() {
    return entries.stream().mapToLong(String::length).sum() > MAX_PATH;
  }

  /** Returns whether there are too many of its key and value, which is an error. */
  boolean isTooOften() {
    return own.size() > MAX_SAME;
  }

  SourceLocation at() {
    return at;
  }

  /** Returns key, value, key, value … of the descriptors that lead to it, with its own. */
  List<String> entries() {
    return entries;
  }

  String key() {
    return entries.get(entries.size() - 2);
  }

  String value() {
    return entries.getLast();
  }

  /** Returns the descriptors that count, in the order in which they were sent. */
  List<RateLimitDescriptor> own() {
    return own;
  }

  /** Returns the nested descriptors that count. */
  List<SentDescriptor> children() {
    return children.values().stream().filter(child -> child.step != Step.NOTHING).toList();
  }

  /** Returns whether overrides apply. */
  boolean takesOverrides() {
    return !plain;
  }

  /** Notes whether an override has changed it. */
  void setOverridden(boolean changed) {
    overridden = changed;
  }

  /** Returns whether it was rejected as it was sent, also without overrides. */
  boolean rejected() {
    return step != Step.SENT;
  }

  /** Describes what counts instead of what was rejected; empty if nothing was. */
  String remains() {
    return switch (step) {
      case SENT -> plain ? "it has no overrides" : "";
      case BEFORE -> "its last good state remains";
      case WITHOUT_LIMIT, NOTHING -> "it has no effect";
    };
  }

  /**
   * Falls back to the next step that differs.
   *
   * @param before the same domain as it was accepted before; null if it was not
   */
  void fallBack(@Nullable SentDescriptor before) {
    if (overridden) { // a mistake of the overrides must not end a limit
      overridden = false;
      plain = true;
      return;
    }
    List<RateLimitDescriptor> accepted = before == null ? null : before.find(entries);
    if (step == Step.SENT && accepted != null && !accepted.equals(own)) {
      step = Step.BEFORE;
      own = accepted;
    } else if (step.compareTo(Step.WITHOUT_LIMIT) < 0 && !children.isEmpty()) {
      step = Step.WITHOUT_LIMIT;
      own = List.of(RateLimitDescriptor.newBuilder().setKey(key()).setValue(value()).build());
    } else {
      step = Step.NOTHING;
    }
  }

  private @Nullable List<RateLimitDescriptor> find(List<String> path) {
    SentDescriptor at = this;
    for (int i = 0; i + 1 < path.size(); i += 2) {
      at = at.children.get(new Entry(path.get(i), path.get(i + 1)));
      if (at == null) {
        return null;
      }
    }
    return at.own;
  }

  /** Returns the messages of the nested descriptors that count. */
  List<RateLimitDescriptor> messages() {
    List<RateLimitDescriptor> messages = new ArrayList<>();
    for (SentDescriptor child : children()) {
      List<RateLimitDescriptor> some = child.own;
      messages.add(some.getFirst().toBuilder().addAllDescriptors(child.messages()).build());
      messages.addAll(some.subList(1, some.size()));
    }
    return messages;
  }
}
