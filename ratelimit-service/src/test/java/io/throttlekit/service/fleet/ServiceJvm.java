package io.throttlekit.service.fleet;

import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.envoy.ChildProcess;
import io.throttlekit.testkit.envoy.ProjectRoot;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A JVM with the service on its class path and an archive of its loaded classes, which halves the
 * processor time of a start. The first test that needs the archive makes it, for the tests of all
 * JVMs of a build; the others wait for it.
 */
public final class ServiceJvm {
  private static final String MAIN = "io.throttlekit.service.cli.Main";

  private static final Path ROOT = Objects.requireNonNull(ProjectRoot.find());

  /** The archive, and a jar of each folder of the class path: archives do without folders. */
  private static final Path FOLDER =
      ROOT.resolve(Path.of("ratelimit-service", "target", "service-jvm"));

  private ServiceJvm() {}

  /** The command without arguments of the service, made once in each JVM. */
  private static final class Command {
    static final List<String> WORDS = make();

    private static List<String> make() {
      try {
        Files.createDirectories(FOLDER);
        try (FileChannel channel =
                FileChannel.open(
                    FOLDER.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock _ = channel.lock()) {
          List<Path> classPath = classPath();
          Path archive = FOLDER.resolve("classes.jsa");
          if (!Files.exists(archive) || isOlder(archive, classPath)) {
            train(classPath, archive);
          }
          return words(classPath, "-XX:SharedArchiveFile=" + archive);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns the command that runs the service's command line, without its arguments. */
  public static List<String> command() {
    return Command.WORDS;
  }

  /**
   * Starts {@code serve} with these variables and no others, without a warm-up.
   *
   * @param options of the JVM, in addition
   * @param folder the working directory
   * @param errors file that receives the standard error
   */
  public static Process serve(
      Map<String, String> environment,
      List<String> options,
      Path folder,
      Path errors,
      String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(command());
    command.addAll(1, options);
    command.add("serve");
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    return builder.redirectError(errors.toFile()).start();
  }

  private static List<String> words(List<Path> classPath, String archive) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx128m",
        "--enable-native-access=ALL-UNNAMED",
        archive,
        "-Xlog:disable", // an archive that cannot be used is no error
        "-cp",
        String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList()),
        MAIN);
  }

  /** Runs the service with a warm-up, which loads what requests need, and a Redis that is away. */
  private static void train(List<Path> classPath, Path archive) throws IOException {
    Path made = FOLDER.resolve("made.jsa");
    Path policies = Files.writeString(FOLDER.resolve("policies.yaml"), "domain: trained\n");
    List<String> command = new ArrayList<>(words(classPath, "-XX:ArchiveClassesAtExit=" + made));
    command.addAll(List.of("serve", "--policies=" + policies, "--grpc-port=0", "--http-port=0"));
    command.addAll(List.of("--debug-port=0", "--store=redis://127.0.0.1:1"));
    Map<String, String> warmUp = Map.of("THROTTLEKIT_WARM_UP_REQUESTS", "50");
    try (ChildProcess process = ChildProcess.start(command, warmUp, FOLDER.resolve("log"))) {
      var _ = process.awaitLog(Pattern.compile("(?m)^ready "), AwaitLimit.LIMIT);
    }
    if (Files.exists(made)) { // not on a machine so slow that it was killed before
      Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static List<Path> classPath() throws IOException {
    String tests =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<Path> classPath = new ArrayList<>();
    for (String each : tests.split(File.pathSeparator, -1)) {
      Path entry = Path.of(each).toAbsolutePath();
      if (Files.isRegularFile(entry)) {
        classPath.add(entry);
      } else if (!each.isEmpty() && Files.isDirectory(entry) && !entry.endsWith("test-classes")) {
        classPath.add(archived(entry));
      }
    }
    return classPath;
  }

  /** Returns a jar of a folder of classes, which is made again when one of them is newer. */
  private static Path archived(Path classes) throws IOException {
    Path jar = FOLDER.resolve(ROOT.relativize(classes).getName(0) + ".jar");
    List<Path> files;
    try (Stream<Path> all = Files.walk(classes)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    if (Files.exists(jar) && !isOlder(jar, files)) {
      return jar;
    }
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out)) {
      entries.setLevel(0);
      for (Path file : files) {
        entries.putNextEntry(
            new JarEntry(classes.relativize(file).toString().replace(File.separatorChar, '/')));
        Files.copy(file, entries);
      }
    }
    return jar;
  }

  private static boolean isOlder(Path made, List<Path> sources) throws IOException {
    var time = Files.getLastModifiedTime(made);
    for (Path source : sources) {
      if (Files.getLastModifiedTime(source).compareTo(time) > 0) {
        return true;
      }
    }
    return false;
  }
}
