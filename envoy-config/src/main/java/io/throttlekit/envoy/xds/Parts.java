package io.throttlekit.envoy.xds;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Parts into which the shares of node ids are divided: one for each open stream, and one for each
 * ended stream whose share is reserved.
 *
 * <p>A stream that names the version of an older one comes from the same Envoy and takes its part
 * over, whether the older one has ended or not; the token in the version cannot be guessed. Any
 * other stream takes the part of one that ended, or else a new one. For one thread at a time.
 */
final class Parts {
  private final SecureRandom random = new SecureRandom();
  private final Map<String, List<Part>> byNode = new HashMap<>();
  private final Map<String, Part> byName = new HashMap<>();
  private int open;
  private int sharedNodes;

  /** Share of one stream. */
  static final class Part {
    /** The node id whose share is divided over this part and others. */
    final String node;

    /** A name that no other part has. */
    final String name;

    /** The suffix of the versions sent to this part. */
    final String token;

    /** The stream that has this part; null while there is none. */
    @Nullable DiscoveryStream<?, ?> stream;

    private Part(String node, String token) {
      this.node = node;
      this.token = token;
      this.name = node + '\n' + token; // no node id has a line break
    }
  }

  /** Returns the part of a stream, which may be taken over from an older one. */
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

  /** Detaches a stream from its part; returns the part, or null where it had none. */
  @Nullable Part release(DiscoveryStream<?, ?> stream) {
    Part part = first(byNode.getOrDefault(stream.node(), List.of()), each -> each.stream == stream);
    if (part != null) {
      int before = streams(stream.node());
      part.stream = null;
      count(before, before - 1);
    }
    return part;
  }

  /** Removes the parts without a stream for which nothing is reserved. */
  void forget(Predicate<Part> reserved) {
    byNode
        .values()
        .removeIf(parts -> {
          parts.removeIf(part ->
              part.stream == null && !reserved.test(part) && byName.remove(part.name, part));
          return parts.isEmpty();
        });
  }

  /** Passes each part with a stream to {@code reader}. */
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

  /** Returns the stream of a part; null where there is none. */
  @Nullable DiscoveryStream<?, ?> stream(String name) {
    Part part = byName.get(name);
    return part == null ? null : part.stream;
  }

  /** Returns the number of open streams of this id. */
  int streams(String node) {
    return (int)
        byNode.getOrDefault(node, List.of()).stream().filter(part -> part.stream != null).count();
  }

  /** Returns the number of streams with a part. */
  int open() {
    return open;
  }

  /** Returns the number of node ids with more than one open stream. */
  int sharedNodes() {
    return sharedNodes;
  }

  private void count(int before, int after) {
    open += after - before;
    sharedNodes += (after > 1 ? 1 : 0) - (before > 1 ? 1 : 0);
  }

  private static @Nullable Part first(List<Part> parts, Predicate<Part> which) {
    return parts.stream().filter(which).findFirst().orElse(null);
  }
}
