package io.throttlekit.service.policies;

import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Explains why no file of a folder is a policy file, for users who switch from
 * envoyproxy/ratelimit.
 */
final class MissingPolicies {

  private MissingPolicies() {}

  /** Describes which files would count, which are there instead, and what to do. */
  static String in(RuntimeFolder runtime) {
    Path base = Path.of(runtime.root() + "/" + runtime.subdirectory());
    Path app = base.resolve(runtime.appDirectory());
    if (!runtime.watchRoot()) {
      return "no policies, so every request is admitted: there is no file in " + app;
    }
    List<Path> skipped = files(base);
    return "no policies, so every request is admitted: with RUNTIME_APPDIRECTORY=%s and"
            .formatted(runtime.appDirectory())
        + " RUNTIME_WATCH_ROOT=true only files in %s, or named %s.*, are read%s"
            .formatted(app, app, skipped.isEmpty() ? "" : "; " + instead(skipped, base, app));
  }

  private static String instead(List<Path> skipped, Path base, Path app) {
    Path file = skipped.getFirst();
    Path name = base.relativize(file);
    String others = skipped.size() == 1 ? "" : " and %d more".formatted(skipped.size() - 1);
    return "skipped %s%s: move it to %s".formatted(file, others, app.resolve(name))
        + (name.getNameCount() == 1 ? "" : ", or set RUNTIME_APPDIRECTORY=" + name.getName(0));
  }

  private static List<Path> files(Path base) {
    try (Stream<Path> below = Files.walk(base)) {
      return below
          .filter(Files::isRegularFile)
          .filter(file -> !base.relativize(file).toString().matches("(.*/)?\\..*"))
          .sorted()
          .toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of(); // errors are reported when the files are read
    }
  }
}
