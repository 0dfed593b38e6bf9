package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.ScalarKind;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns free-form YAML into the values that JSON has. */
record MetadataReader(Problems problems) {
  /**
   * Returns maps, lists, strings, Longs, Doubles, Booleans and nulls, unmodifiable; null for null.
   */
  @SuppressWarnings("NullAway") // a value may be null, as in JSON, which the model's type hides
  static @Nullable Map<String, Object> read(YamlNode.@Nullable Mapping mapping, Problems problems) {
    return mapping == null ? null : new MetadataReader(problems).map(mapping);
  }

  private Map<String, @Nullable Object> map(YamlNode.Mapping mapping) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (YamlNode.Entry entry : mapping.entries()) {
      if (entry.key() instanceof YamlNode.Unreadable) {
        continue;
      }
      if (!(entry.key() instanceof YamlNode.Scalar key)) {
        problems.error(
            entry.key().location(),
            "a key of metadata must be text, but here is " + entry.key().describe(),
            "");
      } else if (key.kind() == ScalarKind.MERGE) {
        merge(entry.value(), map);
      } else {
        map.put(key.text(), value(entry.value()));
      }
    }
    return Collections.unmodifiableMap(map);
  }

  private void merge(YamlNode value, Map<String, @Nullable Object> into) {
    switch (value) {
      case YamlNode.Mapping mapping -> into.putAll(map(mapping));
      case YamlNode.Sequence sequence ->
          // Of a list that is merged, the first item wins.
          sequence.items().reversed().forEach(item -> merge(item, into));
      case YamlNode.Scalar scalar -> Fields.notMergeable(scalar, problems);
      case YamlNode.Unreadable _ -> {}
    }
  }

  private @Nullable Object value(YamlNode node) {
    return switch (node) {
      case YamlNode.Mapping mapping -> map(mapping);
      case YamlNode.Sequence sequence -> {
        List<@Nullable Object> list = new ArrayList<>();
        sequence.items().forEach(item -> list.add(value(item)));
        yield Collections.unmodifiableList(list);
      }
      case YamlNode.Scalar scalar -> scalar(scalar);
      case YamlNode.Unreadable _ -> null;
    };
  }

  private @Nullable Object scalar(YamlNode.Scalar scalar) {
    return switch (scalar.kind()) {
      case NULL -> null;
      case BOOL -> ScalarKind.isTrue(scalar.text());
      case INTEGER -> {
        BigInteger number = ScalarKind.integer(scalar.text());
        if (number == null) {
          yield notRepresentable(scalar);
        }
        if (number.bitLength() < Long.SIZE) {
          yield number.longValue();
        }
        yield number.doubleValue(); // as JSON readers do with integers that do not fit a long
      }
      case FLOAT -> {
        String digits = scalar.text().replace("_", ""); // YAML 1.1 allows underscores in numbers
        boolean finite = !digits.toLowerCase(Locale.ROOT).matches(".*(inf|nan)");
        double number = finite ? Double.parseDouble(digits) : Double.NaN;
        yield Double.isFinite(number) ? (Object) number : notRepresentable(scalar);
      }
      case MERGE, TEXT -> scalar.text();
    };
  }

  private @Nullable Object notRepresentable(YamlNode.Scalar scalar) {
    problems.error(
        scalar.location(), "JSON has no such number: " + Wording.quote(scalar.text()), "quote it");
    return null;
  }
}
