package io.throttlekit.envoy.ceiling;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The parts into which the shares of node ids are divided: one for each open stream, and one for
 * each that ended while its share is reserved.
 *
 * <p>A stream that names the version of an older one comes from the same Envoy and takes its part
 * over, whether that one has ended or not; the token in the version cannot be guessed. Any other
 * stream takes the part of one that ended, or else a new one. For one thread at a time.
 */
final class Parts {
  private final SecureRandom random = new SecureRandom();
  private final Map<String, List<Part>> byNode = new HashMap<>();
  private final Map<String, Part> byName = new HashMap<>();
  private int open;
  private int sharedNodes;

  /** The share of one stream. */
  static final class Part {
    private final String node;
    private final String name;
    private final String token;
    private @Nullable DiscoveryStream<?, ?> stream;

    private Part(String node, String token) {
      this.node = node;
      this.token = token;
      this.name = node + '\n' + token; // no node id has a line break
    }

    /** The node id that divides its share over this part. */
    String node() {
      return node;
    }

    /** A name that no other part has. */
    String name() {
      return name;
    }

    /** What the versions sent to this part end with. */
    String token() {
      return token;
    }

    /** The stream that obeys it; null while there is none. */
    @Nullable DiscoveryStream<?, ?> stream() {
      return stream;
    }
  }

  /** Gives a stream its part. */
  Part claim(DiscoveryStream<?, ?> stream, String version) {
    List<Part> parts = byNode.computeIfAbsent(stream.node(), _ -> new ArrayList<>(1));
    Part part = first(parts, each -> version.endsWith("." + each.token));
    if (part == null) {
      part = first(parts, each -> each.stream == null);
    }
    if (part == null) {
      part = new Part(stream.node(), Long.toHexString(random.nextLong()));
      parts.add(part);
      byName.put(part.name, part);
    }
    int before = streams(stream.node());
    if (part.stream != null) {
      part.stream.succeeded();
    }
    part.stream = stream;
    count(before, streams(stream.node()));
    return part;
  }

  /** Notes that a stream has no part any more; returns it, or null where it had none. */
  @Nullable Part release(DiscoveryStream<?, ?> stream) {
    Part part = first(byNode.getOrDefault(stream.node(), List.of()), each -> each.stream == stream);
    if (part != null) {
      int before = streams(stream.node());
      part.stream = null;
      count(before, before - 1);
    }
    return part;
  }

  /** Forgets the parts without a stream for which nothing is reserved. */
  void forget(Predicate<Part> reserved) {
    byNode
        .values()
        .removeIf(parts -> {
          parts.removeIf(part ->
              part.stream == null && !reserved.test(part) && byName.remove(part.name, part));
          return parts.isEmpty();
        });
  }

  /** Shows each part that has a stream. */
  void forEachOpen(Consumer<Part> reader) {
    byNode
        .values()
        .forEach(parts ->
            parts.forEach(part -> {
              if (part.stream != null) {
                reader.accept(part);
              }
            }));
  }

  /** The stream of a part; null where there is none. */
  @Nullable DiscoveryStream<?, ?> stream(String name) {
    Part part = byName.get(name);
    return part == null ? null : part.stream;
  }

  /** How many streams of this id are open. */
  int streams(String node) {
    return (int)
        byNode.getOrDefault(node, List.of()).stream().filter(part -> part.stream != null).count();
  }

  /** How many streams have a part. */
  int open() {
    return open;
  }

  /** How many node ids have more than one open stream. */
  int sharedNodes() {
    return sharedNodes;
  }

  private void count(int before, int after) {
    open += after - before;
    sharedNodes += (after > 1 ? 1 : 0) - (before > 1 ? 1 : 0);
  }

  private static @Nullable Part first(List<Part> parts, Predicate<Part> which) {
    for (Part part : parts) {
      if (which.test(part)) {
        return part;
      }
    }
    return null;
  }
}
