package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An invariant that nothing refutes may hold because the model cannot break it. So docs/PROOFS.md
 * names a removed safeguard that breaks it, for each invariant that a configuration checks.
 */
class RefutationsTest {
  private static final Path PAGE = Tlc.MODULES.resolve(Path.of("../../../../docs/PROOFS.md"));
  private static final Pattern CHECKED = Pattern.compile("(?m)^(?:INVARIANTS|PROPERTIES) (.*)$");

  /** Says how many states are well formed, not what a model promises. */
  private static final String TYPES = "TypeOK";

  static List<String> modules() throws IOException {
    List<String> modules = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Tlc.MODULES, "*.cfg")) {
      files.forEach(file -> modules.add(file.getFileName().toString().replace(".cfg", "")));
    }
    return modules.stream().sorted().toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("modules")
  void everyInvariantIsRefutedWithoutASafeguard(String module) throws IOException {
    String section = section(module);
    for (String invariant : invariants(module)) {
      assertThat(isRefuted(section, invariant)).as(invariant).isTrue();
    }
  }

  @Test
  void findsWhatThePageSaysOfAnInvariant() {
    assertThat(isRefuted("| x | `A`, `B` violated | 3 |", "A")).isTrue();
    assertThat(isRefuted("a path to the violation of `A`, and of `B`.", "B")).isTrue();
    assertThat(isRefuted("stated one lower (`ATight`)", "A")).isTrue();
    assertThat(isRefuted("| `A` | at most 3 |\n| x | `B` violated |", "A")).isFalse();
  }

  private static boolean isRefuted(String section, String invariant) {
    String name = "`" + invariant + "`";
    return Pattern.compile(
            name + "(, `\\w+`)* violated|violation of [^.]*" + name + "|`" + invariant + "Tight`")
        .matcher(section)
        .find();
  }

  private static List<String> invariants(String module) {
    Matcher line = CHECKED.matcher(Configuration.of(module).text());
    List<String> names = new ArrayList<>();
    while (line.find()) {
      names.addAll(List.of(line.group(1).split(" ", -1)));
    }
    names.remove(TYPES);
    assertThat(names).as(module).isNotEmpty();
    return names;
  }

  /** Returns the part of the page whose heading names the module, or else that introduces it. */
  private static String section(String module) throws IOException {
    String name = "`" + module + "`";
    List<String> sections = List.of(Files.readString(PAGE).split("\n## ", -1));
    return sections.stream()
        .skip(1) // the table of all models
        .filter(each -> each.contains(name))
        .min(Comparator.comparing(each -> !each.startsWith(name)))
        .orElseThrow();
  }
}
