package io.throttlekit.descriptors.source;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Reads policy files from disk. Every message names the path that could not be read. Errors inside
 * a file are reported when they are loaded.
 */
public final class PolicyFiles {
  private PolicyFiles() {}

  /**
   * Result of reading some paths.
   *
   * @param sources the files, in order
   * @param problems an error for each path that could not be read
   */
  public record Sources(List<PolicySource> sources, List<Problem> problems) {

    /** Copies the lists. */
    public Sources {
      sources = List.copyOf(sources);
      problems = List.copyOf(problems);
    }

    /**
     * Returns the files, if all could be read.
     *
     * @throws IOException otherwise; its message names every path that could not be read
     */
    public List<PolicySource> whole() throws IOException {
      if (!problems.isEmpty()) {
        throw new IOException(
            problems.stream()
                .map(p -> p.location().file() + ": " + p.message())
                .collect(Collectors.joining("; ")));
      }
      return sources;
    }
  }

  /**
   * Reads files, and folders with all files below them named {@code *.yaml} or {@code *.yml},
   * sorted by path. Files and folders whose name begins with a dot are left out. Symbolic links are
   * followed. What is no file, such as a pipe, is a problem and not read. A folder without any such
   * file is a problem: one emptied by mistake must not remove every limit.
   */
  public static Sources read(List<Path> paths) {
    List<PolicySource> sources = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        Set<FileVisitOption> follow = EnumSet.of(FileVisitOption.FOLLOW_LINKS);
        int before = sources.size() + problems.size();
        for (Path file : walk(path, follow, PolicyFiles::isHidden, problems)) {
          if (isYaml(file)) {
            read(path.resolve(file), sources, problems);
          }
        }
        if (sources.size() + problems.size() == before) {
          problems.add(
              new Problem(
                  Severity.ERROR,
                  new SourceLocation(path.toString(), 0, 0),
                  "there is no *.yaml or *.yml file below this folder",
                  ""));
        }
      } else {
        read(path, sources, problems);
      }
    }
    return new Sources(sources, problems);
  }

  /**
   * Reads the files that envoyproxy/ratelimit reads, sorted by the names it gives them: their paths
   * with dots for slashes.
   *
   * @param watchRoot whether files may stand anywhere below {@code root/subdirectory} and count
   *     when their name begins with {@code appDirectory} and a dot; otherwise all files below
   *     {@code root/subdirectory/appDirectory} count
   * @param ignoreDotFiles whether files and folders whose name begins with a dot are left out
   */
  public static Sources readRuntime(
      Path root,
      String subdirectory,
      String appDirectory,
      boolean watchRoot,
      boolean ignoreDotFiles) {
    Path base = below(root, subdirectory);
    Path folder = watchRoot ? base : below(base, appDirectory);
    Predicate<Path> skipped = ignoreDotFiles ? PolicyFiles::isHidden : path -> false;
    List<PolicySource> sources = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    // Like that program, this follows the root when it is a link, and links to files, but not links
    // to folders: a ConfigMap's ..data would give every file twice.
    List<Path> files =
        walk(folder, EnumSet.noneOf(FileVisitOption.class), skipped, problems).stream()
            .filter(file -> !watchRoot || runtimeName(file).startsWith(appDirectory + "."))
            .sorted(Comparator.comparing(PolicyFiles::runtimeName))
            .toList();
    files.forEach(file -> read(folder.resolve(file), sources, problems));
    return new Sources(sources, problems);
  }

  /** Returns relative paths of all files below {@code folder}, by name. */
  private static List<Path> walk(
      Path folder, Set<FileVisitOption> options, Predicate<Path> skipped, List<Problem> problems) {
    List<Path> files = new ArrayList<>();
    try {
      // A root that is a link would not be entered without FOLLOW_LINKS.
      Path start = folder.toRealPath();
      Files.walkFileTree(
          start,
          options,
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path at, BasicFileAttributes attributes) {
              return !at.equals(start) && skipped.test(at)
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              // What is no file, or was deleted since the listing, is reported when it is read. A
              // folder is here only as a link that is not followed.
              if (!Files.isDirectory(file) && !skipped.test(file)) {
                files.add(start.relativize(file));
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              // The other files are still read.
              problems.add(problem(folder.resolve(start.relativize(file)), reason(e)));
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      problems.add(problem(folder, reason(e)));
    }
    files.sort(Comparator.comparing(file -> joined(file, "/")));
    return files;
  }

  private static void read(Path file, List<PolicySource> sources, List<Problem> problems) {
    try {
      if (Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
        sources.add(new PolicySource(file.toString(), text(file)));
      } else { // reading could block for ever, or never end
        problems.add(problem(file, "a pipe, socket or device, not a file"));
      }
    } catch (IOException e) {
      problems.add(problem(file, reason(e)));
    }
  }

  private static String text(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      // One byte more than allowed, so that the loader can report that the file is too large.
      return SourceText.decode(in.readNBytes(SourceText.MAX_BYTES + 1));
    }
  }

  private static Problem problem(Path path, String message) {
    return new Problem(
        Severity.ERROR, new SourceLocation(path.toString(), 1, 1), "cannot read: " + message, "");
  }

  private static String reason(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "no such file or folder";
      case AccessDeniedException _ -> "not permitted";
      case FileSystemLoopException _ -> "a link that leads back to a folder it is in";
      case FileSystemException system when isLinkLoop(system) ->
          "a link that leads to itself, or through too many others";
      default -> String.valueOf(e.getMessage());
    };
  }

  /** Java has no exception of its own for ELOOP. */
  private static boolean isLinkLoop(FileSystemException failure) {
    return String.valueOf(failure.getReason()).contains("symbolic link");
  }

  private static String runtimeName(Path file) {
    return joined(file, ".");
  }

  private static Path below(Path parent, String name) {
    return name.isEmpty() ? parent : parent.resolve(name.replaceFirst("^/+", ""));
  }

  private static String joined(Path path, String separator) {
    return StreamSupport.stream(path.spliterator(), false)
        .map(Path::toString)
        .collect(Collectors.joining(separator));
  }

  private static boolean isHidden(Path path) {
    Path name = path.getFileName();
    return name != null && name.toString().startsWith(".");
  }

  private static boolean isYaml(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    return name.endsWith(".yaml") || name.endsWith(".yml");
  }
}
