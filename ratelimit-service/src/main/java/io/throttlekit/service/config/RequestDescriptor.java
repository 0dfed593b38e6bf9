package io.throttlekit.service.config;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor that is made of what Envoy says of a request.
 *
 * @param entries at least one; a request that lacks one of them yields no such descriptor
 */
public record RequestDescriptor(List<Entry> entries) {

  /** Keeps a copy. */
  public RequestDescriptor {
    entries = List.copyOf(entries);
  }

  /**
   * One entry.
   *
   * @param key not empty
   * @param source where the value comes from
   * @param otherwise the value of a request that has none there; null for no entry
   */
  public record Entry(String key, Source source, @Nullable String otherwise) {}

  /** Where the value of an entry comes from. */
  public sealed interface Source {}

  /**
   * A request header.
   *
   * @param name in lower case
   */
  public record Header(String name) implements Source {}

  /** A key of the {@code context_extensions} of Envoy's route. */
  public record Context(String key) implements Source {}

  /** Always the same. */
  public record Constant(String value) implements Source {}

  /** What Envoy says of a request besides its headers. */
  public enum Attribute implements Source {
    METHOD,
    PATH,
    PATH_WITHOUT_QUERY,
    HOST,
    SCHEME,
    SOURCE_ADDRESS,
    PRINCIPAL;

    /** As it is written. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
