package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.envoy.ProjectRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** One timeout of the rate limit filter in all examples, demos, deployments and documents. */
class FilterTimeoutTest {
  /** The settings of a filter, up to the address of the service. */
  private static final Pattern FILTER =
      Pattern.compile(
          "filters\\.http\\.ratelimit\\.v3\\.RateLimit\\b(.*?)rate_limit_service:", Pattern.DOTALL);

  private static final Pattern TIMEOUT = Pattern.compile("(?m)^\\s*timeout: (\\S+)");

  @Test
  void everyDocumentedFilterHasTheRecommendedTimeout() throws IOException {
    List<String> found = new ArrayList<>();
    Path root = Objects.requireNonNull(ProjectRoot.find());
    for (Path file : files(root)) {
      Matcher filter = FILTER.matcher(read(file));
      while (filter.find()) {
        Matcher timeout = TIMEOUT.matcher(filter.group(1));
        found.add(root.relativize(file) + " " + (timeout.find() ? timeout.group(1) : "none"));
      }
    }
    assertThat(found)
        .hasSizeGreaterThan(14)
        .anyMatch(each -> each.startsWith("README.md "))
        .anyMatch(each -> each.startsWith("deploy/mesh/"))
        .filteredOn(each -> !each.endsWith(" @TIMEOUT@")) // set by each test of replicas
        .allMatch(each -> each.endsWith(" " + DemoFiles.FILTER_TIMEOUT));
    assertThat(read(root.resolve("docs/ENVOY.md")))
        .contains("`timeout: " + DemoFiles.FILTER_TIMEOUT + "`");
  }

  private static List<Path> files(Path root) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = String.valueOf(folder.getFileName());
            boolean built = !folder.equals(root) && (name.equals("target") || name.startsWith("."));
            return built ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(".yaml") || file.toString().endsWith(".md")) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
