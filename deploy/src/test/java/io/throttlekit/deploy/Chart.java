package io.throttlekit.deploy;

import io.throttlekit.testkit.envoy.ProjectRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The files of the chart, its examples, and what these render to. */
final class Chart {
  static final Path PROJECT = Objects.requireNonNull(ProjectRoot.find());
  static final Path FOLDER = PROJECT.resolve("deploy/helm/throttlekit");
  static final Path DASHBOARDS = FOLDER.resolve("files/dashboards");
  private static final Path EXAMPLES = PROJECT.resolve("deploy/helm/examples");
  private static final Path GOLDEN =
      PROJECT.resolve("deploy/src/test/resources/io/throttlekit/deploy/golden");

  private Chart() {}

  /** Returns the names of the sets of values, such as {@code redis}. */
  static List<String> examples() throws IOException {
    return files(EXAMPLES).stream()
        .map(file -> file.getFileName().toString().replace(".yaml", ""))
        .toList();
  }

  static Path example(String name) {
    return EXAMPLES.resolve(name + ".yaml");
  }

  /** Returns the file with what an example renders to. */
  static Path golden(String example) {
    return GOLDEN.resolve(example + ".yaml");
  }

  /** Returns the file with the digest of the chart that the golden files were rendered from. */
  static Path goldenDigest() {
    return GOLDEN.resolve("chart.sha256");
  }

  /** Returns the SHA-256 of all files that the golden files depend on. */
  static String digest() throws IOException {
    MessageDigest digest = sha256();
    List<Path> all = new ArrayList<>(files(FOLDER));
    all.addAll(files(EXAMPLES));
    for (Path file : all) {
      digest.update(PROJECT.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      digest.update(Files.readString(file).replace("\r\n", "\n").getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }

  /** Returns the files at and below a folder, sorted. */
  static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> found = Files.walk(folder)) {
      return found.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
