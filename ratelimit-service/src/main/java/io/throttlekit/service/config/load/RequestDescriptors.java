package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Constant;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.RequestDescriptor.Source;
import io.throttlekit.service.config.load.Yaml.Mistakes;
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
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Syntax of request descriptors: {@code [{entries: [{key: user, header: x-user}]}]}. In the
 * environment the same text is used.
 */
final class RequestDescriptors {
  static final String EXPECTED =
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

  /** Result for an entry with mistakes, which has no meaning. */
  private static final Entry NO_ENTRY = new Entry("", new Constant(""), null);

  private final Mistakes mistakes;

  private RequestDescriptors(Mistakes mistakes) {
    this.mistakes = mistakes;
  }

  /** Reads a node, and reports all mistakes; the result is meaningless when there are any. */
  static List<RequestDescriptor> read(Node node, Mistakes mistakes) {
    return new RequestDescriptors(mistakes).descriptors(node);
  }

  /**
   * Reads a text.
   *
   * @throws InvalidTextException with all mistakes
   */
  static List<RequestDescriptor> parse(String text) throws InvalidTextException {
    List<String> mistakes = new ArrayList<>();
    try {
      Node root = Yaml.compose("", text).orElse(null);
      if (root == null) {
        throw new InvalidTextException("it is empty");
      }
      List<RequestDescriptor> descriptors =
          read(root, (node, what) -> mistakes.add(place(node) + what));
      if (mistakes.isEmpty()) {
        return descriptors;
      }
    } catch (YamlEngineException e) {
      throw new InvalidTextException("not YAML: " + Yaml.problem(e));
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

  private List<RequestDescriptor> descriptors(Node node) {
    if (node instanceof SequenceNode list) {
      return list.getValue().stream().map(this::descriptor).toList();
    }
    mistakes.at(node, "ext_authz.descriptors has to be " + EXPECTED);
    return List.of();
  }

  private RequestDescriptor descriptor(Node node) {
    Node entries = fields(node, "a descriptor", List.of(ENTRIES)).get(ENTRIES);
    if (entries instanceof SequenceNode list && !list.getValue().isEmpty()) {
      return new RequestDescriptor(list.getValue().stream().map(this::entry).toList());
    }
    if (entries != null) {
      mistakes.at(entries, "entries has to be a list of at least one entry");
    } else if (node instanceof MappingNode) { // others are reported above
      mistakes.at(node, "a descriptor needs entries");
    }
    return new RequestDescriptor(List.of());
  }

  private Entry entry(Node node) {
    Map<String, Node> fields = fields(node, "an entry", OF_ENTRY);
    if (!(node instanceof MappingNode)) {
      return NO_ENTRY;
    }
    String key = key(node, fields.get(KEY));
    Node otherwise = fields.get(DEFAULT);
    List<String> given = SOURCES.stream().filter(fields::containsKey).toList();
    Node place = given.size() == 1 ? fields.get(given.getFirst()) : null;
    if (place == null) {
      mistakes.at(node, "an entry has exactly one of " + String.join(", ", SOURCES));
      return NO_ENTRY;
    }
    Source source = source(given.getFirst(), place);
    if (otherwise != null && source instanceof Constant) {
      mistakes.at(otherwise, "a value that is always the same needs no default");
    }
    return new Entry(key, source, otherwise == null ? null : text(otherwise, DEFAULT));
  }

  private String key(Node entry, @Nullable Node node) {
    if (node == null) {
      mistakes.at(entry, "an entry needs a key");
      return "";
    }
    String key = notEmpty(node, KEY);
    StreamDoneEntry reserved = StreamDoneEntry.of(key);
    if (reserved != null) {
      String effect = reserved == StreamDoneEntry.LEASE ? "releases" : reserved.effect();
      mistakes.at(
          node,
          "%s %s permits, and a check acquires them: leave that to stream-done calls"
              .formatted(key, effect));
    }
    return key;
  }

  private Source source(String word, Node node) {
    return switch (word) {
      case "header" -> header(node, notEmpty(node, word));
      case "attribute" -> attribute(node, notEmpty(node, word));
      case "context" -> new Context(notEmpty(node, word));
      default -> new Constant(text(node, word));
    };
  }

  private Source header(Node node, String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    // An empty name is reported already.
    if (!name.isEmpty() && !HEADER.matcher(name).matches()) {
      mistakes.at(
          node,
          Yaml.alwaysQuoted(name)
              + (HEADER.matcher(lower).matches()
                  ? " has to be in lower case, as Envoy sends it: " + lower
                  : " is not the name of an HTTP header"));
    }
    return new Header(name);
  }

  private Source attribute(Node node, String word) {
    if (ATTRIBUTES.contains(word)) {
      return Attribute.valueOf(word.toUpperCase(Locale.ROOT));
    }
    if (!word.isEmpty()) { // an empty one is reported already
      mistakes.at(
          node,
          Yaml.alwaysQuoted(word)
              + " is not one of "
              + String.join(", ", ATTRIBUTES)
              + Wording.hint(word, ATTRIBUTES));
    }
    return Attribute.METHOD;
  }

  /** Returns the text of a node that must have one; empty after reporting that it has none. */
  private String notEmpty(Node node, String name) {
    String text = text(node, name);
    if (text.isEmpty() && isText(node)) {
      mistakes.at(node, name + " has to be a text that is not empty");
    }
    return text;
  }

  /** Returns the text of a node; empty after reporting that it is none. */
  private String text(Node node, String name) {
    if (isText(node)) {
      return ((ScalarNode) node).getValue();
    }
    mistakes.at(node, name + " has to be a text");
    return "";
  }

  private static boolean isText(Node node) {
    return node instanceof ScalarNode && !Yaml.isNull(node);
  }

  /** Returns the fields of a map that may have only these; none when the node is no map. */
  private Map<String, Node> fields(Node node, String what, List<String> allowed) {
    Map<String, Node> fields = new HashMap<>();
    Yaml.forEachField(
        node,
        what,
        allowed,
        mistakes,
        (key, value) -> {
          fields.put(key.getValue(), value);
          if (!allowed.contains(key.getValue())) {
            String name = Yaml.alwaysQuoted(key.getValue());
            String hint = Wording.hint(key.getValue(), allowed);
            mistakes.at(key, "unknown key " + name + " in " + what + hint);
          }
        });
    return fields;
  }
}
