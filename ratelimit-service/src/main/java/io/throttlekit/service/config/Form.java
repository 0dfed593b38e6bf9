package io.throttlekit.service.config;

import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How the values of one kind are written.
 *
 * @param expected what a person has to write, to complete "is not …"
 * @param words what a misspelt word may have been meant to be; empty when any text could be right
 * @param list whether several texts make one value
 * @param parser the value, or null when the texts do not say one
 * @param printer the value as YAML
 * @param complaint what is said of a text that is no value
 * @param structure how a value that has parts is written in a file; null for one that has none
 */
record Form<T>(
    String expected,
    List<String> words,
    boolean list,
    Function<List<String>, @Nullable T> parser,
    Function<T, String> printer,
    Complaint complaint,
    @Nullable Structure<T> structure) {

  /**
   * What is said of a text that is no value.
   *
   * @param shown the text without what nobody may see
   * @param reason why it is none, and what would be; empty when what is expected says it all
   */
  record Complaint(UnaryOperator<String> shown, UnaryOperator<String> reason) {
    static final Complaint PLAIN = new Complaint(Secrets::mask, text -> "");
  }

  /** A form that says no more of a text that is no value. */
  Form(
      String expected,
      List<String> words,
      boolean list,
      Function<List<String>, @Nullable T> parser,
      Function<T, String> printer) {
    this(expected, words, list, parser, printer, Complaint.PLAIN, null);
  }

  /** A form whose value is one text. */
  static <T> Form<T> of(
      String expected, Function<String, @Nullable T> parser, Function<T, String> printer) {
    return new Form<>(
        expected,
        List.of(),
        false,
        texts -> texts.size() == 1 ? parser.apply(texts.getFirst()) : null,
        printer);
  }

  /** A form whose value has parts; as a text it is the YAML of them. */
  static <T> Form<T> of(String expected, Structure<T> structure, Function<T, String> printer) {
    return new Form<>(
        expected,
        List.of(),
        false,
        texts -> texts.size() == 1 ? structure.read(texts.getFirst()).value() : null,
        printer,
        new Complaint(Secrets::mask, text -> String.join("; ", structure.read(text).mistakes())),
        structure);
  }

  /** The same form, for which these words may have been meant. */
  Form<T> hinting(List<String> words) {
    return new Form<>(expected, words, list, parser, printer, complaint, structure);
  }

  /** The same form, of whose mistakes this is said. */
  Form<T> complaining(Complaint complaint) {
    return new Form<>(expected, words, list, parser, printer, complaint, structure);
  }

  /** The value, or null when the texts do not say one. */
  @Nullable T parse(List<String> texts) {
    return parser.apply(texts);
  }

  /** The texts of one line: lists are separated by commas. */
  List<String> split(String line) {
    return list ? List.of(line.split(",", -1)) : List.of(line);
  }
}
