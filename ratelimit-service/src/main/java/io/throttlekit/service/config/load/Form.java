package io.throttlekit.service.config.load;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Syntax of one type of values.
 *
 * @param expected description of valid values, to complete "is not …"
 * @param words valid words, for spelling hints; empty when any text may be valid
 * @param list whether several texts make one value
 * @param parser returns the value, or null when the texts are not valid
 * @param printer prints the value as YAML
 * @param complaint describes an invalid text
 * @param structure syntax of a value with parts in a file; null for values without parts
 */
record Form<T>(
    String expected,
    List<String> words,
    boolean list,
    Function<List<String>, @Nullable T> parser,
    Function<T, String> printer,
    InvalidText complaint,
    @Nullable Structure<T> structure) {

  /**
   * Description of an invalid text.
   *
   * @param shown masks secrets in the text
   * @param reason returns why the text is invalid, and what would be valid; empty when {@code
   *     expected} is enough
   */
  record InvalidText(UnaryOperator<String> shown, UnaryOperator<String> reason) {
    static final InvalidText PLAIN = new InvalidText(Secrets::mask, text -> "");
  }

  /** Creates a syntax whose errors show only what is expected. */
  Form(
      String expected,
      List<String> words,
      boolean list,
      Function<List<String>, @Nullable T> parser,
      Function<T, String> printer) {
    this(expected, words, list, parser, printer, InvalidText.PLAIN, null);
  }

  /** Creates a syntax whose value is one text. */
  static <T> Form<T> of(
      String expected, Function<String, @Nullable T> parser, Function<T, String> printer) {
    return new Form<>(
        expected,
        List.of(),
        false,
        texts -> texts.size() == 1 ? parser.apply(texts.getFirst()) : null,
        printer);
  }

  /** Creates a syntax whose value has parts; as a text it is their YAML. */
  static <T> Form<T> of(String expected, Structure<T> structure, Function<T, String> printer) {
    return new Form<>(
        expected,
        List.of(),
        false,
        texts -> texts.size() == 1 ? structure.read(texts.getFirst()).value() : null,
        printer,
        new InvalidText(Secrets::mask, text -> String.join("; ", structure.read(text).mistakes())),
        structure);
  }

  /** Returns the same syntax with these words for spelling hints. */
  Form<T> hinting(List<String> words) {
    return new Form<>(expected, words, list, parser, printer, complaint, structure);
  }

  /** Returns the same syntax with this description of invalid texts. */
  Form<T> complaining(InvalidText complaint) {
    return new Form<>(expected, words, list, parser, printer, complaint, structure);
  }

  /** Returns the value, or null when the texts are not valid. */
  @Nullable T parse(List<String> texts) {
    return parser.apply(texts);
  }

  /** Returns the texts of one line: lists are separated by commas. */
  List<String> split(String line) {
    return list ? List.of(line.split(",", -1)) : List.of(line);
  }

  /** Syntax in YAML of a value that has parts. */
  @FunctionalInterface
  interface Structure<T> {

    /** Reads the value and reports all mistakes; the result is meaningless when there are any. */
    T read(Node node, Mistakes mistakes);

    /** Receiver of mistakes and their places. */
    @FunctionalInterface
    interface Mistakes {
      void at(Node node, String what);
    }

    /** Reads a text; returns the value, or descriptions of the mistakes. */
    default Read<T> read(String text) {
      List<String> mistakes = new ArrayList<>();
      try {
        LoadSettings settings =
            LoadSettings.builder().setUseMarks(true).setAllowNonScalarKeys(true).build();
        Node root = new Compose(settings).composeString(text).orElse(null);
        if (root != null) {
          T value = read(root, (node, what) -> mistakes.add(place(node) + what));
          return new Read<>(mistakes.isEmpty() ? value : null, mistakes);
        }
        mistakes.add("it is empty");
      } catch (YamlEngineException e) {
        mistakes.add("not YAML");
      } catch (StackOverflowError e) { // the parser recurses once per level
        mistakes.add("nested too deeply");
      }
      return new Read<>(null, mistakes);
    }

    /**
     * Result of reading a text.
     *
     * @param value null exactly when there are mistakes
     */
    record Read<T>(@Nullable T value, List<String> mistakes) {}

    private static String place(Node node) {
      Mark mark = node.getStartMark().orElse(null);
      return mark == null
          ? ""
          : "line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ": ";
    }
  }
}
