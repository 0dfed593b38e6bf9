package io.throttlekit.deploy;

import io.throttlekit.testkit.required.ExternalProgram;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The Helm of the tests, located once in each JVM: {@code HELM_BIN}, else {@code helm} on the
 * {@code PATH}, else the one that {@code deploy/helm/build-helm} built. Tests never build it.
 */
public final class HelmProgram implements ExternalProgram {
  private static final String MISSING =
      "no helm on the PATH: deploy/helm/build-helm builds one. Golden files are checked without it";
  private static final String BUILT = ".envoy/helm/helm";
  private static final String VERSION = "1.34.0"; // of Kubernetes; templates do not depend on it

  private static final class Once {
    static final @Nullable Path PROGRAM = look();
  }

  /** What Helm printed, and its exit code. */
  record Output(int code, String out, String errors) {}

  @Override
  public String name() {
    return "Helm";
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if {@code HELM_BIN} is set and invalid: to be fixed, not skipped
   */
  @Override
  public @Nullable String whyMissing() {
    return Once.PROGRAM == null ? MISSING : null;
  }

  private static @Nullable Path look() {
    String named = System.getenv("HELM_BIN");
    if (named != null && !named.isBlank()) {
      Path program = Path.of(named).toAbsolutePath();
      if (!Files.isExecutable(program)) {
        throw new IllegalStateException("HELM_BIN=" + named + " is no program");
      }
      return program;
    }
    List<Path> candidates = new ArrayList<>();
    String path = System.getenv().getOrDefault("PATH", "");
    for (String folder : Pattern.compile(File.pathSeparator).split(path, -1)) {
      if (!folder.isEmpty()) {
        candidates.add(Path.of(folder, "helm"));
      }
    }
    candidates.add(Chart.PROJECT.resolve(BUILT));
    return candidates.stream().filter(Files::isExecutable).findFirst().orElse(null);
  }

  /** Renders the chart as the release {@code limits} in the namespace {@code edge}. */
  static Output template(String... options) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of("template", "limits", Chart.FOLDER.toString(), "--namespace", "edge"));
    command.addAll(List.of("--kube-version", VERSION));
    command.addAll(List.of(options));
    return run(command);
  }

  static Output lint(Path values) throws IOException, InterruptedException {
    return run(
        List.of(
            "lint",
            Chart.FOLDER.toString(),
            "--strict",
            "--quiet",
            "--kube-version",
            VERSION,
            "--values",
            values.toString()));
  }

  /** Returns whether the Helm is the one that {@code deploy/helm/build-helm} built. */
  static boolean isOfThisProject() {
    return Chart.PROJECT.resolve(BUILT).equals(Once.PROGRAM);
  }

  /** Runs Helm. */
  static Output run(List<String> arguments) throws IOException, InterruptedException {
    Path program = Once.PROGRAM;
    if (program == null) {
      throw new IllegalStateException("there is no helm");
    }
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    Path errors = Files.createTempFile("helm", ".err");
    try {
      Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
      process.getOutputStream().close();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Output(process.waitFor(), out, Files.readString(errors));
    } finally {
      Files.delete(errors);
    }
  }
}
