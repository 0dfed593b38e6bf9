package io.throttlekit.descriptors;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the keys within a field that has no effect where it stands. Its values are not read, but a
 * key that is unknown everywhere is still an error, as in envoyproxy/ratelimit.
 */
final class UnreadKeys {
  /** Fields whose keys are free. */
  private static final Set<String> FREE = Set.of("metadata", "headers");

  private final Problems problems;

  UnreadKeys(Problems problems) {
    this.problems = problems;
  }

  /** Reports each unknown key below {@code field}, at any depth. */
  void check(Fields.Field field) {
    if (!FREE.contains(field.name())) {
      check(field.value(), placeOf(field.name()));
    }
  }

  private void check(YamlNode value, @Nullable Place place) {
    if (value instanceof YamlNode.Mapping mapping) {
      for (Fields.Field field : Fields.of(mapping, problems).all()) {
        if (!Place.isKnown(field.name())) {
          unknown(field, place);
        }
        check(field);
      }
    } else if (value instanceof YamlNode.Sequence sequence) {
      sequence.items().forEach(item -> check(item, place));
    }
  }

  private void unknown(Fields.Field field, @Nullable Place place) {
    String key = "unknown key " + Wording.quote(field.name());
    if (place != null) {
      String hint = Wording.suggest(field.name(), place.keys());
      problems.error(field.at(), key + " " + place.where(), hint);
    } else {
      String nearest = Wording.nearest(field.name(), Place.everyKey());
      problems.error(field.at(), key, nearest == null ? "" : "did you mean " + nearest + "?");
    }
  }

  private static @Nullable Place placeOf(String field) {
    return switch (field) {
      case "rate_limit" -> Place.RATE_LIMIT;
      case "limits" -> Place.LIMIT;
      case "descriptors" -> Place.DESCRIPTOR;
      case "replaces" -> Place.REPLACES;
      case "lease" -> Place.LEASE;
      case "concurrency" -> Place.CONCURRENCY;
      case "queue" -> Place.QUEUE;
      case "priority" -> Place.PRIORITY;
      case "denied" -> Place.DENIED;
      default -> null;
    };
  }
}
