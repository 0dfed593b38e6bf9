package io.throttlekit.service.policies;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Metadata of files: their paths, link targets, sizes, modification times and file keys. Equal
 * fingerprints mean equal content, except for changes within the resolution of the file system's
 * clock.
 *
 * @param files one line per file
 * @param newestMillis latest modification time, since the Unix epoch
 */
record Fingerprint(List<String> files, long newestMillis) {

  /** Returns the fingerprint of files and of all files below folders. */
  static Fingerprint of(List<Path> paths) {
    Visitor visitor = new Visitor();
    for (Path path : paths) {
      try {
        Files.walkFileTree(
            path, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, visitor);
      } catch (IOException e) {
        visitor.files.add(path + " " + e);
      }
    }
    return new Fingerprint(List.copyOf(visitor.files), visitor.newestMillis);
  }

  private static final class Visitor extends SimpleFileVisitor<Path> {
    private final List<String> files = new ArrayList<>();
    private long newestMillis = Long.MIN_VALUE;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      newestMillis = Math.max(newestMillis, attributes.lastModifiedTime().toMillis());
      files.add(
          "%s %s %d %s %s"
              .formatted(
                  file,
                  target(file),
                  attributes.size(),
                  attributes.lastModifiedTime(),
                  attributes.fileKey()));
      return FileVisitResult.CONTINUE;
    }

    /** Returns where links lead; a link that leads nowhere must not hide the files after it. */
    private static String target(Path file) {
      try {
        return file.toRealPath().toString();
      } catch (IOException failure) {
        return failure.toString();
      }
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) {
      files.add(file + " " + failure);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) {
      return FileVisitResult.CONTINUE;
    }
  }
}
