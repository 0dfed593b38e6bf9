package io.throttlekit.descriptors;

import java.util.List;

/** A YAML document as a tree that knows where each part stands; aliases share their anchor's. */
sealed interface YamlNode {

  /** Where the node begins. */
  SourceLocation location();

  /** What a reader would call it: {@code a list}, {@code a number} … */
  String describe();

  /** Text, and what kind of value it stands for. */
  record Scalar(SourceLocation location, String text, ScalarKind kind) implements YamlNode {
    @Override
    public String describe() {
      return kind == ScalarKind.NULL ? "nothing" : kind.describe() + " " + Wording.quote(text);
    }
  }

  /** A list. */
  record Sequence(SourceLocation location, List<YamlNode> items) implements YamlNode {
    @Override
    public String describe() {
      return "a list";
    }
  }

  /** A mapping as written: with merge keys and repeated keys. */
  record Mapping(SourceLocation location, List<Entry> entries) implements YamlNode {
    @Override
    public String describe() {
      return "a mapping";
    }
  }

  /** Something that was reported already, and of which nothing more is said. */
  record Unreadable(SourceLocation location) implements YamlNode {
    @Override
    public String describe() {
      return "something unreadable";
    }
  }

  /** One {@code key: value} of a mapping. */
  record Entry(YamlNode key, YamlNode value) {}

  /** Whether the node says nothing: absent, empty, {@code ~} or {@code null}. */
  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.kind() == ScalarKind.NULL;
  }
}
