package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The tests and specifications that README.md and docs/ name exist. */
class DocumentedTestsTest {
  private static final Path PROJECT = Path.of("..");
  private static final Pattern TEST =
      Pattern.compile("`([A-Z]\\w*(?:Test|Conformance))(?:[.#](\\w+)(?:\\(\\))?)?`");
  private static final Pattern PROOF = Pattern.compile("(Test|Conformance)\\.java$");
  private static final Pattern FILE = Pattern.compile("\\w+\\.java");
  private static final Pattern SPECIFICATION = Pattern.compile("`(\\w+\\.tla)`");

  @Test
  void everyTestAndMethodNamedByAPageExists() throws IOException {
    List<Path> sources = testSources();
    List<MatchResult> named = named(TEST);
    assertThat(named).hasSizeGreaterThan(20);
    assertThat(named)
        .filteredOn(name ->
            sources.stream().noneMatch(source -> isTest(source, name.group(1), name.group(2))))
        .extracting(MatchResult::group)
        .isEmpty();
  }

  @Test
  void everySpecificationThatAPageNamesExists() throws IOException {
    Path specifications = PROJECT.resolve("spec/src/main/tla");
    assertThat(named(SPECIFICATION))
        .isNotEmpty()
        .extracting(name -> specifications.resolve(name.group(1)))
        .allSatisfy(file -> assertThat(file).exists());
  }

  @Test
  void everyFileThatTheArchitectureNamesExists() throws IOException {
    Set<String> files = new HashSet<>();
    for (Path source : sources("src/main/java")) {
      files.add(String.valueOf(source.getFileName()));
    }
    assertThat(FILE.matcher(read(PROJECT.resolve("docs/ARCHITECTURE.md"))).results())
        .extracting(MatchResult::group)
        .hasSizeGreaterThan(20)
        .allSatisfy(file -> assertThat(files).contains(file));
  }

  private static boolean isTest(Path source, String type, @Nullable String method) {
    return source.endsWith(type + ".java")
        && (method == null
            || Pattern.compile("\\bvoid " + method + "\\(").matcher(read(source)).find());
  }

  private static List<MatchResult> named(Pattern pattern) throws IOException {
    List<Path> pages = new ArrayList<>(List.of(PROJECT.resolve("README.md")));
    try (DirectoryStream<Path> docs = Files.newDirectoryStream(PROJECT.resolve("docs"), "*.md")) {
      docs.forEach(pages::add);
    }
    return pages.stream().flatMap(page -> pattern.matcher(read(page)).results()).toList();
  }

  private static List<Path> testSources() throws IOException {
    return sources("src/test/java").stream()
        .filter(file -> PROOF.matcher(file.toString()).find())
        .toList();
  }

  private static List<Path> sources(String folder) throws IOException {
    List<Path> sources = new ArrayList<>();
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(PROJECT)) {
      for (Path module : modules) {
        if (Files.isDirectory(module.resolve(folder))) {
          try (Stream<Path> files = Files.walk(module.resolve(folder))) {
            files.forEach(sources::add);
          }
        }
      }
    }
    return sources;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
