package io.throttlekit.descriptors;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
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

/**
 * Reads policy files from disk. Every failure is an {@link IOException} whose message names the
 * path. What is wrong inside a file is for {@link PolicyLoader} to say.
 */
public final class PolicyFiles {
  private PolicyFiles() {}

  /**
   * Files as they are; folders with all that is below them and is called {@code *.yaml} or {@code
   * *.yml}, sorted by path, without files and folders whose name begins with a dot. Symbolic links
   * are followed.
   *
   * @throws IOException if a path does not exist, cannot be read, or vanishes meanwhile, or a
   *     folder has no such file
   */
  public static List<PolicySource> read(List<Path> paths) throws IOException {
    List<PolicySource> sources = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        int before = sources.size();
        Set<FileVisitOption> follow = EnumSet.of(FileVisitOption.FOLLOW_LINKS);
        for (Path file : walk(path, follow, PolicyFiles::isHidden)) {
          if (isYaml(file)) {
            sources.add(source(path.resolve(file).toString(), path.resolve(file)));
          }
        }
        if (sources.size() == before) { // a folder emptied by mistake must not end every limit
          throw new NoSuchFileException(
              path.toString(), null, "no *.yaml or *.yml file below " + path);
        }
      } else {
        sources.add(source(path.toString(), path));
      }
    }
    return sources;
  }

  /**
   * The files that envoyproxy/ratelimit reads, with its names for them: paths with dots for
   * slashes, sorted.
   *
   * @param watchRoot whether files stand anywhere below {@code root/subdirectory} and count when
   *     their name begins with {@code appDirectory} and a dot; otherwise all below {@code
   *     root/subdirectory/appDirectory} count
   * @param ignoreDotFiles whether files and folders whose name begins with a dot are left out
   * @throws IOException if the folder does not exist, or a file cannot be read or vanishes
   *     meanwhile
   */
  public static List<PolicySource> readRuntime(
      Path root,
      String subdirectory,
      String appDirectory,
      boolean watchRoot,
      boolean ignoreDotFiles)
      throws IOException {
    Path base = below(root, subdirectory);
    Path folder = watchRoot ? base : below(base, appDirectory);
    Predicate<Path> skipped = ignoreDotFiles ? PolicyFiles::isHidden : path -> false;
    List<PolicySource> sources = new ArrayList<>();
    // Like that program, this follows the link that the root is, and links to files, but not links
    // to folders: a ConfigMap's ..data would give every file twice.
    for (Path file : walk(folder, EnumSet.noneOf(FileVisitOption.class), skipped)) {
      String name = String.join(".", names(file));
      if (!watchRoot || name.startsWith(appDirectory + ".")) {
        sources.add(source(name, folder.resolve(file)));
      }
    }
    sources.sort(Comparator.comparing(PolicySource::name));
    return sources;
  }

  /** Relative paths of all files below {@code folder}, by name. */
  private static List<Path> walk(Path folder, Set<FileVisitOption> options, Predicate<Path> skipped)
      throws IOException {
    List<Path> files = new ArrayList<>();
    Path start = folder;
    try {
      start = folder.toRealPath();
      Files.walkFileTree(start, options, Integer.MAX_VALUE, new Collector(start, skipped, files));
    } catch (IOException e) {
      throw withPath(folder, e);
    }
    files.sort(Comparator.comparing(file -> String.join("/", names(file))));
    return files;
  }

  private static PolicySource source(String name, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      // One byte more than allowed is enough for the loader to say that it is too much.
      return new PolicySource(name, SourceText.decode(in.readNBytes(SourceText.MAX_BYTES + 1)));
    } catch (IOException e) {
      throw withPath(file, e);
    }
  }

  private static IOException withPath(Path path, IOException e) {
    String reason =
        switch (e) {
          case NoSuchFileException missing -> "no such file: " + missing.getFile();
          case AccessDeniedException denied -> "not permitted: " + denied.getFile();
          case FileSystemLoopException loop -> "a link leads back to " + loop.getFile();
          default -> String.valueOf(e.getMessage());
        };
    return new IOException("cannot read " + path + ": " + reason, e);
  }

  private static Path below(Path parent, String name) {
    return name.isEmpty() ? parent : parent.resolve(name.replaceFirst("^/+", ""));
  }

  private static List<String> names(Path path) {
    List<String> names = new ArrayList<>();
    path.forEach(name -> names.add(name.toString()));
    return names;
  }

  private static boolean isHidden(Path path) {
    Path name = path.getFileName();
    return name != null && name.toString().startsWith(".");
  }

  private static boolean isYaml(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    return name.endsWith(".yaml") || name.endsWith(".yml");
  }

  /** Collects files, relative to {@code start}. */
  private static final class Collector extends SimpleFileVisitor<Path> {
    private final Path start;
    private final Predicate<Path> skipped;
    private final List<Path> files;

    Collector(Path start, Predicate<Path> skipped, List<Path> files) {
      this.start = start;
      this.skipped = skipped;
      this.files = files;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
      return !folder.equals(start) && skipped.test(folder)
          ? FileVisitResult.SKIP_SUBTREE
          : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      // Pipes and the like could block; a file that is gone by now is for the reader to report.
      boolean readable = Files.isRegularFile(file) || Files.notExists(file);
      if (readable && !skipped.test(file)) {
        files.add(start.relativize(file));
      }
      return FileVisitResult.CONTINUE;
    }
  }
}
