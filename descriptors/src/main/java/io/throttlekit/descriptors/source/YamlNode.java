package io.throttlekit.descriptors.source;

import java.util.List;

/** YAML document as a tree with the place of each part; aliases share their anchor's node. */
public sealed interface YamlNode {

  /** Returns where the node begins. */
  SourceLocation location();

  /** Describes the node for messages: {@code a list}, {@code a number} … */
  default String describe() {
    return switch (this) {
      case Scalar scalar when scalar.kind() == ScalarKind.NULL -> "nothing";
      case Scalar scalar -> scalar.kind().describe() + " " + Wording.quote(scalar.text());
      case Sequence _ -> "a list";
      case Mapping _ -> "a mapping";
      case Unreadable _ -> "something unreadable";
    };
  }

  /** Text, and the kind of value it stands for. */
  record Scalar(SourceLocation location, String text, ScalarKind kind) implements YamlNode {}

  /** A list. */
  record Sequence(SourceLocation location, List<YamlNode> items) implements YamlNode {}

  /** A mapping as written, with merge keys and repeated keys. */
  record Mapping(SourceLocation location, List<Entry> entries) implements YamlNode {}

  /** A part with an error that was reported already, so that it is not reported again. */
  record Unreadable(SourceLocation location) implements YamlNode {}

  /** One {@code key: value} of a mapping. */
  record Entry(YamlNode key, YamlNode value) {}

  /** Returns whether the node has no value: absent, empty, {@code ~} or {@code null}. */
  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.kind() == ScalarKind.NULL;
  }
}
