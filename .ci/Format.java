import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs google-java-format over every Java file of the repository: {@code check} fails and names the
 * files that differ, {@code apply} rewrites them.
 *
 * <p>Started by the root POM on the toolchain's JDK: {@code java .ci/Format.java MODE JARS ROOT}.
 */
final class Format {
  private static final List<String> COMPILER_PACKAGES =
      List.of("api", "code", "file", "main", "parser", "tree", "util");

  public static void main(String[] args) throws IOException, InterruptedException {
    String mode = args[0];
    Path root = Path.of(args[2]).toAbsolutePath();
    List<String> sources = sources(root);

    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It ends too soon to earn back what optimizing its code costs: a quarter of its time.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    for (String name : COMPILER_PACKAGES) {
      command.add("--add-exports=jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", args[1] + "/*", "com.google.googlejavaformat.java.Main"));
    command.addAll(
        mode.equals("apply")
            ? List.of("--replace")
            : List.of("--dry-run", "--set-exit-if-changed"));
    // The formatter splits this file at every blank, so nothing in it says where the project lies.
    Path list = Files.write(Path.of(args[1], "sources.txt"), sources);
    command.add("@" + root.relativize(list.toAbsolutePath()));

    int exit = new ProcessBuilder(command).directory(root.toFile()).inheritIO().start().waitFor();
    if (exit != 0) {
      System.err.println(
          "The files above are not formatted. To format them: mvn -N process-sources"
              + " -Dformat.mode=apply");
    }
    System.exit(exit);
  }

  private static List<String> sources(Path root) throws IOException {
    List<String> sources = new ArrayList<>();
    try (var modules = Files.list(root)) {
      for (Path module : modules.filter(m -> Files.isDirectory(m.resolve("src"))).toList()) {
        try (var files = Files.walk(module.resolve("src"))) {
          files
              .map(file -> root.relativize(file).toString())
              .filter(file -> file.endsWith(".java"))
              .sorted()
              .forEach(sources::add);
        }
      }
    }
    sources.add(".ci/Format.java");
    return sources;
  }
}
