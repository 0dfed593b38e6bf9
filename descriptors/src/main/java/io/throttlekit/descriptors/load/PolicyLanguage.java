package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.descriptors.source.YamlTree;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The policy language, as the resource {@code policy-language.yaml} declares it. Immutable and
 * thread-safe.
 */
final class PolicyLanguage {
  private static final String RESOURCE = "/policy-language.yaml";
  private static final PolicyLanguage DECLARED = new PolicyLanguage();

  private final Map<String, Place> places = new LinkedHashMap<>();
  private final Map<String, Map<String, String>> families = new LinkedHashMap<>();
  private final Set<String> original;
  private final Set<String> keys = new LinkedHashSet<>();

  private PolicyLanguage() {
    Map<String, YamlNode> parts = entries(root());
    this.original = Set.copyOf(words(parts.get("original")));
    entries(parts.get("homes")).forEach((name, homes) -> families.put(name, texts(homes)));
    entries(parts.get("places")).forEach((name, place) -> places.put(name, place(place)));
    places.values().forEach(place -> keys.addAll(place.names()));
  }

  /** Returns the declared language. */
  static PolicyLanguage declared() {
    return DECLARED;
  }

  /** Returns the names of all places. */
  Set<String> places() {
    return places.keySet();
  }

  /**
   * Returns the place of this name.
   *
   * @throws NullPointerException if none is declared, which is a bug
   */
  Place place(String name) {
    return Objects.requireNonNull(places.get(name), name);
  }

  /** Returns the keys of envoyproxy/ratelimit, which accepts each of them at any place. */
  Set<String> original() {
    return original;
  }

  /** Returns the keys of all places. */
  Set<String> keys() {
    return keys;
  }

  /**
   * Returns the first declaration of a key, in the order of the places; null if there is none. For
   * fields that stand where they have no meaning.
   */
  @Nullable Key anywhere(String name) {
    for (Place place : places.values()) {
      if (place.keys().containsKey(name)) {
        return place.key(name);
      }
    }
    return null;
  }

  /**
   * Returns where a misplaced key belongs.
   *
   * @param first homes that are preferred to those of the family
   */
  String home(String key, Map<String, String> first, String family) {
    Map<String, String> homes = new LinkedHashMap<>(first);
    families.getOrDefault(family, Map.of()).forEach(homes::putIfAbsent);
    for (Map.Entry<String, String> home : homes.entrySet()) {
      Place place = places.get(home.getKey());
      if (place != null && place.keys().containsKey(key)) {
        return home.getValue();
      }
    }
    return homes.getOrDefault("otherwise", "");
  }

  private static Place place(YamlNode declared) {
    Map<String, YamlNode> parts = entries(declared);
    Map<String, Key> keys = new LinkedHashMap<>();
    entries(parts.get("keys")).forEach((name, key) -> keys.put(name, key(name, key)));
    String family = text(parts.get("family"));
    return new Place(
        text(parts.get("where")),
        text(parts.get("ours")).equals("true"),
        keys,
        texts(parts.get("hints")),
        texts(parts.get("homes")),
        family.isEmpty() ? "everywhere" : family);
  }

  private static Key key(String name, YamlNode declared) {
    YamlNode words = entries(declared).get("words");
    Map<String, Map<String, String>> cells = new LinkedHashMap<>();
    entries(words).forEach((word, columns) -> cells.put(word, texts(columns)));
    return new Key(name, words(words), cells, texts(declared));
  }

  private static YamlNode root() {
    try (InputStream in = PolicyLanguage.class.getResourceAsStream(RESOURCE)) {
      byte[] bytes = Objects.requireNonNull(in, RESOURCE).readAllBytes();
      Problems problems = new Problems();
      PolicySource source = new PolicySource(RESOURCE, new String(bytes, StandardCharsets.UTF_8));
      return Objects.requireNonNull(YamlTree.read(source, problems), problems::toString);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, YamlNode> entries(@Nullable YamlNode node) {
    Map<String, YamlNode> entries = new LinkedHashMap<>();
    if (node instanceof YamlNode.Mapping mapping) {
      Fields.of(mapping, new Problems())
          .all()
          .forEach(field -> entries.put(field.name(), field.value()));
    }
    return entries;
  }

  private static Map<String, String> texts(@Nullable YamlNode node) {
    Map<String, String> texts = new LinkedHashMap<>();
    entries(node).forEach((name, value) -> texts.put(name, text(value)));
    return texts;
  }

  /** Returns the words of a list, or those that a mapping describes. */
  private static List<String> words(@Nullable YamlNode node) {
    return node instanceof YamlNode.Sequence list
        ? list.items().stream().map(PolicyLanguage::text).toList()
        : List.copyOf(entries(node).keySet());
  }

  private static String text(@Nullable YamlNode node) {
    return node instanceof YamlNode.Scalar scalar ? scalar.text() : "";
  }
}
