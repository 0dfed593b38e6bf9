package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Constant;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.RequestDescriptor.Source;
import io.throttlekit.service.config.load.Form.Structure.Mistakes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Syntax of request descriptors: {@code [{entries: [{key: user, header: x-user}]}]}. In the
 * environment the same text is used.
 */
final class RequestDescriptors {
  private static final String EXPECTED =
      "a list of descriptors, such as [{entries: [{key: user, header: x-user}]}]";
  private static final String ENTRIES = "entries";
  private static final String KEY = "key";
  private static final String DEFAULT = "default";
  private static final String VALUE = "value";
  private static final List<String> SOURCES = List.of("header", "attribute", "context", VALUE);
  private static final List<String> OF_ENTRY =
      Stream.of(List.of(KEY), SOURCES, List.of(DEFAULT)).flatMap(List::stream).toList();
  private static final List<String> ATTRIBUTES =
      Stream.of(Attribute.values()).map(Attribute::word).toList();

  /**
   * Name of a header in lower case, as Envoy sends it, or a pseudo-header such as {@code
   * :authority}.
   */
  private static final Pattern HEADER = Pattern.compile(":?[!#$%&'*+.^_`|~0-9a-z-]{1,256}");

  private final Mistakes mistakes;

  private RequestDescriptors(Mistakes mistakes) {
    this.mistakes = mistakes;
  }

  static Form form() {
    return new Form(
        EXPECTED,
        List.of(),
        false,
        RequestDescriptors::parse,
        Secrets::mask,
        (node, mistakes) -> new RequestDescriptors(mistakes).read(node));
  }

  private static List<RequestDescriptor> parse(String text) throws InvalidTextException {
    List<String> mistakes = new ArrayList<>();
    try {
      Node root = Yaml.compose("", text).orElse(null);
      if (root == null) {
        throw new InvalidTextException("it is empty");
      }
      List<RequestDescriptor> descriptors =
          new RequestDescriptors((node, what) -> mistakes.add(place(node) + what)).read(root);
      if (mistakes.isEmpty()) {
        return descriptors;
      }
    } catch (YamlEngineException e) {
      throw new InvalidTextException("not YAML");
    }
    throw new InvalidTextException(String.join("; ", mistakes));
  }

  private static String place(Node node) {
    return node.getStartMark()
        .map(mark -> "line %d, column %d: ".formatted(mark.getLine() + 1, mark.getColumn() + 1))
        .orElse("");
  }

  static String print(RequestDescriptor descriptor) {
    return descriptor.entries().stream()
        .map(RequestDescriptors::print)
        .collect(Collectors.joining(", ", "{entries: [", "]}"));
  }

  private static String print(Entry entry) {
    String source =
        switch (entry.source()) {
          case Header header -> "header: " + Yaml.quoted(header.name());
          case Context context -> "context: " + Yaml.quoted(context.key());
          case Constant constant -> "value: " + Yaml.quoted(constant.value());
          case Attribute attribute -> "attribute: " + attribute.word();
        };
    String otherwise = entry.otherwise();
    return "{key: %s, %s%s}"
        .formatted(
            Yaml.quoted(entry.key()),
            source,
            otherwise == null ? "" : ", default: " + Yaml.quoted(otherwise));
  }

  private List<RequestDescriptor> read(Node node) {
    List<RequestDescriptor> descriptors = new ArrayList<>();
    if (!(node instanceof SequenceNode list)) {
      mistakes.at(node, "ext_authz.descriptors has to be " + EXPECTED);
      return descriptors;
    }
    for (Node element : list.getValue()) {
      Map<String, Node> fields = fields(element, "a descriptor", List.of(ENTRIES));
      if (fields != null) {
        descriptors.add(new RequestDescriptor(entries(element, fields.get(ENTRIES))));
      }
    }
    return descriptors;
  }

  private List<Entry> entries(Node descriptor, @Nullable Node node) {
    List<Entry> entries = new ArrayList<>();
    if (node == null) {
      mistakes.at(descriptor, "a descriptor needs entries");
    } else if (!(node instanceof SequenceNode list) || list.getValue().isEmpty()) {
      mistakes.at(node, "entries has to be a list of at least one entry");
    } else {
      for (Node element : list.getValue()) {
        Map<String, Node> fields = fields(element, "an entry", OF_ENTRY);
        Entry entry = fields == null ? null : entry(element, fields);
        if (entry != null) {
          entries.add(entry);
        }
      }
    }
    return entries;
  }

  private @Nullable Entry entry(Node node, Map<String, Node> fields) {
    String key = key(node, fields.get(KEY));
    List<String> given = SOURCES.stream().filter(fields::containsKey).toList();
    Node otherwise = fields.get(DEFAULT);
    if (given.size() != 1) {
      mistakes.at(node, "an entry has exactly one of " + String.join(", ", SOURCES));
      return null;
    }
    String word = given.getFirst();
    Node place = fields.get(word);
    Source source = place == null ? null : source(word, place);
    if (otherwise != null && word.equals(VALUE)) {
      mistakes.at(otherwise, "a value that is always the same needs no default");
    }
    String instead = otherwise == null ? null : text(otherwise, DEFAULT);
    return key == null || source == null ? null : new Entry(key, source, instead);
  }

  private @Nullable String key(Node entry, @Nullable Node node) {
    if (node == null) {
      mistakes.at(entry, "an entry needs a key");
      return null;
    }
    String key = notEmpty(node, KEY);
    if (Rule.LEASE_ENTRY.equals(key)) {
      mistakes.at(
          node,
          key + " releases permits, and a check acquires them: leave that to stream-done calls");
      return null;
    }
    return key;
  }

  private @Nullable Source source(String word, Node node) {
    if (word.equals(VALUE)) {
      String value = text(node, VALUE);
      return value == null ? null : new Constant(value);
    }
    String text = notEmpty(node, word);
    if (text == null) {
      return null;
    }
    return switch (word) {
      case "header" -> header(node, text);
      case "attribute" -> attribute(node, text);
      default -> new Context(text);
    };
  }

  private @Nullable Source header(Node node, String name) {
    if (HEADER.matcher(name).matches()) {
      return new Header(name);
    }
    String lower = name.toLowerCase(Locale.ROOT);
    mistakes.at(
        node,
        Yaml.alwaysQuoted(name)
            + (HEADER.matcher(lower).matches()
                ? " has to be in lower case, as Envoy sends it: " + lower
                : " is not the name of an HTTP header"));
    return null;
  }

  private @Nullable Source attribute(Node node, String word) {
    for (Attribute attribute : Attribute.values()) {
      if (attribute.word().equals(word)) {
        return attribute;
      }
    }
    mistakes.at(
        node,
        Yaml.alwaysQuoted(word)
            + " is not one of "
            + String.join(", ", ATTRIBUTES)
            + Wording.hint(word, ATTRIBUTES));
    return null;
  }

  private @Nullable String notEmpty(Node node, String name) {
    String text = text(node, name);
    if (text != null && text.isEmpty()) {
      mistakes.at(node, name + " has to be a text that is not empty");
      return null;
    }
    return text;
  }

  private @Nullable String text(Node node, String name) {
    if (node instanceof ScalarNode scalar && !Yaml.isNull(scalar)) {
      return scalar.getValue();
    }
    mistakes.at(node, name + " has to be a text");
    return null;
  }

  /** Returns the fields of a map that may have only these; null when the node is no map. */
  private @Nullable Map<String, Node> fields(Node node, String what, List<String> allowed) {
    Map<String, Node> fields = new HashMap<>();
    boolean isMap =
        Yaml.forEachField(node, what, allowed, mistakes, (key, value) -> {
          fields.put(key.getValue(), value);
          if (!allowed.contains(key.getValue())) {
            String name = Yaml.alwaysQuoted(key.getValue());
            String hint = Wording.hint(key.getValue(), allowed);
            mistakes.at(key, "unknown key " + name + " in " + what + hint);
          }
        });
    return isMap ? fields : null;
  }
}
