package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.YamlNode;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Key of a place in the policy language, as {@code policy-language.yaml} declares it.
 *
 * @param words the allowed words; empty where other values are allowed
 * @param cells cells of the words' table in the documents: by the word, then by the column
 * @param attributes the other attributes by their names, as texts
 */
record Key(
    String name,
    List<String> words,
    Map<String, Map<String, String>> cells,
    Map<String, String> attributes) {

  /** Returns the attribute, or "" where the key has none of that name. */
  String attribute(String attribute) {
    return attributes.getOrDefault(attribute, "");
  }

  /** Returns whether the value is probably meant for this key, whatever its own key is. */
  boolean suits(YamlNode value) {
    String type = attribute("type");
    return switch (value) {
      case YamlNode.Mapping _ -> type.equals("mapping") || type.equals("free");
      case YamlNode.Sequence _ -> type.equals("list");
      case YamlNode.Scalar scalar
          when scalar.kind() == ScalarKind.INTEGER || scalar.kind() == ScalarKind.FLOAT ->
          type.equals("number") || type.equals("decimal");
      case YamlNode.Scalar _ -> !Set.of("mapping", "free", "list").contains(type);
      case YamlNode.Unreadable _ -> true;
    };
  }

  /** Returns the least allowed number. */
  BigDecimal min() {
    return new BigDecimal(attribute("min"));
  }

  /** Returns the greatest allowed number. */
  BigDecimal max() {
    return new BigDecimal(attribute("max"));
  }

  /** Returns whether the number is in the range. */
  boolean allows(BigDecimal number) {
    return number.compareTo(min()) >= 0 && number.compareTo(max()) <= 0;
  }

  /** Returns the range of a number in words: {@code 1 to 100}. */
  String range() {
    return attribute("min") + " to " + attribute("max");
  }
}
