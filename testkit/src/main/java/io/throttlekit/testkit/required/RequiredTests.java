package io.throttlekit.testkit.required;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/**
 * Fails the build when tests that {@linkplain Requires require} a program were skipped, or not run,
 * although the program is available.
 *
 * <p>Run by the build in phase verify of each module that has such tests, on the module's test
 * class path, with {@code name=value} arguments: {@code classes} and {@code reports} are folders,
 * {@code started} is when the build began (older reports say nothing about it), {@code skipTests}
 * and {@code test} are those of the build, or an unresolved {@code ${…}} where they are not given.
 * {@code thorough} is whether tests of that tag run. Prints one line for each program with the
 * tests that ran.
 */
public final class RequiredTests {
  private final Path classes;
  private final Path reports;
  private final Instant started;
  private final boolean thorough;
  private final ClassLoader loader;

  RequiredTests(Path classes, Path reports, Instant started, boolean thorough, ClassLoader loader) {
    this.classes = classes;
    this.reports = reports;
    this.started = started;
    this.thorough = thorough;
    this.loader = loader;
  }

  /** Exits with 1 when a program's tests should have run and did not. */
  public static void main(String[] args) throws IOException {
    Map<String, String> arguments = new TreeMap<>();
    for (String argument : args) {
      int equals = argument.indexOf('=');
      arguments.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
    String switchedOff = switchedOff(arguments);
    if (switchedOff != null) {
      System.out.println("required tests: not checked, because of " + switchedOff);
      return;
    }
    List<Verdict> verdicts =
        new RequiredTests(
                Path.of(argument(arguments, "classes")),
                Path.of(argument(arguments, "reports")),
                Instant.parse(argument(arguments, "started")),
                argument(arguments, "thorough").equals("true"),
                RequiredTests.class.getClassLoader())
            .verdicts();
    verdicts.forEach(System.out::println);
    if (verdicts.isEmpty()) {
      System.out.println("required tests: this module has none, but the build checks for them");
    }
    if (verdicts.isEmpty() || verdicts.stream().anyMatch(Verdict::failed)) {
      System.exit(1);
    }
  }

  static @Nullable String switchedOff(Map<String, String> arguments) {
    String skip = arguments.getOrDefault("skipTests", "false");
    if (!skip.equals("false") && !skip.startsWith("${")) {
      return "-DskipTests";
    }
    String selected = arguments.getOrDefault("test", "");
    return selected.isEmpty() || selected.startsWith("${") ? null : "-Dtest=" + selected;
  }

  private static String argument(Map<String, String> arguments, String name) {
    String value = arguments.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no argument " + name);
    }
    return value;
  }

  /** One for each program that a test class of the module requires, by name. */
  List<Verdict> verdicts() throws IOException {
    Map<String, ExternalProgram> programs = new TreeMap<>();
    Map<String, List<TestReport>> ran = new TreeMap<>();
    for (Class<?> test : testClasses()) {
      for (ExternalProgram program : possiblyMissing(SkippedWhereMissing.programs(test))) {
        programs.putIfAbsent(program.name(), program);
        ran.computeIfAbsent(program.name(), _ -> new ArrayList<>())
            .add(TestReport.read(reports, test.getName(), started));
      }
    }
    return programs.values().stream()
        .map(program -> Verdict.of(program, ran.getOrDefault(program.name(), List.of())))
        .toList();
  }

  /** Returns the programs that may have caused a skip: the missing ones, if there are any. */
  private static List<ExternalProgram> possiblyMissing(List<ExternalProgram> programs) {
    List<ExternalProgram> missing =
        programs.stream().filter(program -> program.whyMissing() != null).toList();
    return missing.isEmpty() ? programs : missing;
  }

  private List<Class<?>> testClasses() throws IOException {
    try (Stream<Path> files = Files.walk(classes)) {
      return files
          .map(file -> classes.relativize(file).toString())
          .filter(name -> name.endsWith(".class"))
          .sorted()
          .<Class<?>>map(name -> load(name.substring(0, name.length() - ".class".length())))
          .filter(type -> !Modifier.isAbstract(type.getModifiers())) // interfaces are, too
          .filter(type -> thorough || !isThorough(type))
          .toList();
    }
  }

  /** Returns whether only the profile {@code thorough} runs this class. */
  private static boolean isThorough(Class<?> type) {
    return Arrays.stream(type.getAnnotationsByType(Tag.class))
        .anyMatch(tag -> tag.value().equals("thorough"));
  }

  private Class<?> load(String path) {
    try {
      return Class.forName(path.replace('/', '.'), false, loader);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(path + " is not on the class path", e);
    }
  }
}
