package io.throttlekit.service.config;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Descriptor that is made from Envoy's description of a request.
 *
 * @param entries at least one; a request that lacks one of them yields no such descriptor
 */
public record RequestDescriptor(List<Entry> entries) {

  /** Copies the list. */
  public RequestDescriptor {
    entries = List.copyOf(entries);
  }

  /**
   * One entry.
   *
   * @param key not empty
   * @param source source of the value
   * @param otherwise value of a request without the source; null for no entry
   */
  public record Entry(String key, Source source, @Nullable String otherwise) {}

  /** Source of an entry's value. */
  public sealed interface Source {}

  /**
   * A request header.
   *
   * @param name in lower case
   */
  public record Header(String name) implements Source {}

  /** A key of the {@code context_extensions} of Envoy's route. */
  public record Context(String key) implements Source {}

  /** Constant value. */
  public record Constant(String value) implements Source {}

  /** Property of a request besides its headers. */
  public enum Attribute implements Source {
    METHOD,
    PATH,
    PATH_WITHOUT_QUERY,
    HOST,
    SCHEME,
    SOURCE_ADDRESS,
    PRINCIPAL;

    /** Returns the attribute's name in the configuration. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
