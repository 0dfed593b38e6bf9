package io.throttlekit.service.config.load;

import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Settings of the section {@code policies}. */
final class PolicySettings extends Section {
  private static final PolicyConfig DEFAULTS = PolicyConfig.defaults();

  final Setting<List<Path>> paths = setting("policies.paths", Forms.paths(), DEFAULTS.paths());
  final Setting<String> runtimeRoot = file("policies.runtime.root");
  final Setting<String> runtimeSubdirectory = file("policies.runtime.subdirectory");
  final Setting<String> runtimeAppDirectory =
      setting("policies.runtime.app_directory", Forms.optionalPath(), "config");
  final Setting<Boolean> runtimeWatchRoot = flag("policies.runtime.watch_root", true);
  final Setting<Boolean> runtimeIgnoreDotFiles = flag("policies.runtime.ignore_dot_files", true);
  final Setting<Boolean> mergeDomains = flag("policies.merge_domains", DEFAULTS.mergeDomains());
  final Setting<Duration> pollInterval =
      duration(
          "policies.poll_interval",
          Duration.ofMillis(10),
          Duration.ofDays(1),
          DEFAULTS.pollInterval());
  final Setting<Boolean> requireAtStart =
      flag("policies.require_at_start", DEFAULTS.requireAtStart());

  /** Returns whether policies are read where envoyproxy/ratelimit reads them. */
  boolean standsIn(SettingValues values) {
    return values.get(paths).isEmpty() && !values.get(runtimeRoot).isEmpty();
  }

  PolicyConfig assemble(SettingValues values) {
    Path root = values.path(runtimeRoot);
    if (root == null && values.get(paths).isEmpty() && !values.malformed(paths)) {
      values.error(
          Origin.option("--policies"),
          "no policies: give --policies PATH, policies.paths in the configuration file, or the"
              + " variable RUNTIME_ROOT");
    }
    return new PolicyConfig(
        values.get(paths),
        root == null
            ? null
            : new RuntimeFolder(
                root,
                values.get(runtimeSubdirectory),
                values.get(runtimeAppDirectory),
                values.get(runtimeWatchRoot),
                values.get(runtimeIgnoreDotFiles)),
        values.get(mergeDomains),
        values.get(pollInterval),
        values.get(requireAtStart));
  }
}
