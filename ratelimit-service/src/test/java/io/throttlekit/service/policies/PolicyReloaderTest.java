package io.throttlekit.service.policies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import io.throttlekit.service.server.FixedTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyReloaderTest {
  @TempDir private Path folder;
  private final PolicyStore store = new PolicyStore();
  private final List<Boolean> loads = new ArrayList<>();
  private final List<PolicyReloader> reloaders = new ArrayList<>();

  @AfterEach
  void close() {
    reloaders.forEach(PolicyReloader::close);
  }

  @Test
  void anUnchangedFolderIsLoadedOnce() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    assertThat(reloader.poll()).isTrue();
    assertThat(reloader.poll()).isFalse();
    assertThat(reloader.poll()).isFalse();
    assertThat(loads).containsExactly(true);
    assertThat(store.status().generation()).isEqualTo(1);
    assertThat(store.status().good()).isTrue();
    assertThat(limit("a")).isEqualTo(1);
  }

  @Test
  void anEditInPlaceIsLoaded() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    write("a.yaml", "a", 2);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(limit("a")).isEqualTo(2);
  }

  @Test
  void aFileBeingWrittenIsLoadedOnceTwoPollsSeeTheSame() throws IOException {
    Path file = write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    String whole = Files.readString(write("next", "a", 22));
    Files.writeString(file, "domain: a\n");
    assertThat(reloader.poll()).isFalse();
    Files.writeString(file, whole.substring(0, whole.indexOf('[')) + "[]\n");
    assertThat(reloader.poll()).isFalse();
    Files.writeString(file, whole);
    assertThat(reloader.poll()).isFalse();
    assertThat(limit("a")).isEqualTo(1);
    assertThat(reloader.poll()).isTrue();
    assertThat(limit("a")).isEqualTo(22);
    assertThat(loads).containsExactly(true, true);
  }

  @Test
  void anErrorDoesNotEndThePolling() throws IOException {
    write("a.yaml", "a", 1);
    AtomicInteger notified = new AtomicInteger();
    PolicyConfig config =
        new PolicyConfig(List.of(folder), null, null, true, Duration.ofMillis(5), true, null);
    PolicyReloader reloader =
        new PolicyReloader(
            config,
            alone(config),
            store,
            new FixedTime(FAR_FUTURE),
            _ -> {
              if (notified.incrementAndGet() == 1) {
                throw new StackOverflowError("as deep policies could give");
              }
            });
    reloaders.add(reloader);
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      reloader.start();
      await().until(() -> notified.get() == 1);
      write("a.yaml", "a", 2);
      await().until(() -> notified.get() == 2);
      assertThat(logged.lines()).contains("SEVERE the policy files could not be polled");
    }
    assertThat(limit("a")).isEqualTo(2);
  }

  @Test
  void aRecentEditThatKeepsSizeAndTimeIsLoaded() throws IOException {
    FileTime time = FileTime.fromMillis(FAR_FUTURE - 1_000);
    Path file = write("a.yaml", "a", 1);
    Files.setLastModifiedTime(file, time);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    write("a.yaml", "a", 2);
    Files.setLastModifiedTime(file, time);
    assertThat(reloader.poll()).isTrue();
    assertThat(limit("a")).isEqualTo(2);
  }

  @Test
  void aFileThatIsTouchedButNotChangedIsNotLoadedAgain() throws IOException {
    Path file = write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
    assertThat(pollTwice(reloader)).isFalse();
    assertThat(loads).hasSize(1);
  }

  @Test
  void aFileThatIsRenamedOverTheOldOneIsLoaded() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    Path next = write("next", "a", 3);
    Files.move(
        next,
        folder.resolve("a.yaml"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(limit("a")).isEqualTo(3);
  }

  @Test
  void addedAndDeletedFilesAreDetected() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    Path more = write("b.yaml", "b", 2);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(limit("b")).isEqualTo(2);
    Files.delete(more);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(book().domains()).containsExactly("a");
  }

  @Test
  void theSwappedLinkOfAConfigMapIsDetected() throws IOException {
    configMap("..2026_1", 1);
    Files.createSymbolicLink(folder.resolve("..data"), Path.of("..2026_1"));
    Files.createSymbolicLink(folder.resolve("a.yaml"), Path.of("..data/a.yaml"));
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    assertThat(limit("a")).isEqualTo(1);

    configMap("..2026_2", 2);
    Path next = Files.createSymbolicLink(folder.resolve("..data_tmp"), Path.of("..2026_2"));
    Files.move(
        next,
        folder.resolve("..data"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(limit("a")).isEqualTo(2);
    assertThat(store.status().problems()).isEmpty();
  }

  @Test
  void aSwappedRuntimeRootIsDetected() throws IOException {
    Files.createDirectories(folder.resolve("v1/rl/config"));
    Files.createDirectories(folder.resolve("v2/rl/config"));
    write("v1/rl/config/a.yaml", "a", 1);
    write("v2/rl/config/a.yaml", "a", 2);
    Path root = Files.createSymbolicLink(folder.resolve("current"), Path.of("v1"));
    RuntimeFolder runtime = new RuntimeFolder(root, "rl", "config", true, true);
    PolicyReloader reloader = reloader(config(List.of(), runtime));
    reloader.poll();
    assertThat(limit("a")).isEqualTo(1);
    Files.delete(root);
    Files.createSymbolicLink(root, Path.of("v2"));
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(limit("a")).isEqualTo(2);
  }

  @Test
  void aBadFileKeepsTheLastGoodPoliciesAndIsReportedOnce() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    Files.writeString(folder.resolve("b.yaml"), "domain: b\ndescriptors: [{kee: x}]\n");
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(reloader.poll()).isFalse();
    assertThat(loads).containsExactly(true, false);
    assertThat(limit("a")).isEqualTo(1);
    assertThat(store.status().generation()).isEqualTo(1);
    assertThat(store.status().good()).isFalse();
    assertThat(store.status().lastError()).contains("error");
    assertThat(store.status().problems()).isNotEmpty();

    write("b.yaml", "b", 5);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(store.status().good()).isTrue();
    assertThat(limit("b")).isEqualTo(5);
  }

  @Test
  void aDeletedFolderKeepsThePoliciesUntilItIsRestored() throws IOException {
    Path below = Files.createDirectory(folder.resolve("p"));
    write("p/a.yaml", "a", 1);
    PolicyReloader reloader = reloader(below);
    reloader.poll();
    Files.move(below, folder.resolve("elsewhere"));
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(reloader.poll()).isFalse();
    assertThat(limit("a")).isEqualTo(1);
    assertThat(store.status().good()).isFalse();
    Files.move(folder.resolve("elsewhere"), below);
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(store.status().good()).isTrue();
  }

  @Test
  void everyProblemIsLoggedOnceAtItsOwnLevel() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    reloader.poll();
    Files.writeString(
        folder.resolve("b.yaml"),
        "domain: b\ndescriptors: [{kee: x}, {key: k, rate_limit: {unit: day}}]\n");
    Files.createSymbolicLink(folder.resolve("c.yaml"), Path.of("nowhere"));
    List<String> logged = logged(() -> pollTwice(reloader));
    assertThat(logged).hasSize(4);
    assertThat(logged.get(0)).matches("SEVERE \\S+c.yaml:1:1: error: cannot read: .*");
    assertThat(logged.get(1)).matches("SEVERE \\S+b.yaml:2:\\d+: error: unknown key .*");
    assertThat(logged.get(2)).matches("WARNING \\S+b.yaml:2:\\d+: warning: .*");
    assertThat(logged.get(3))
        .isEqualTo("SEVERE policies not loaded: 2 errors; the last good ones remain active");
    assertThat(store.status().problems()).hasSize(3);
  }

  @Test
  void anErrorThatPreventsTheStartIsLoggedWithoutASummary() throws IOException {
    Files.writeString(folder.resolve("a.yaml"), "domain: ''\n");
    PolicyReloader reloader = reloader(folder);
    assertThat(logged(reloader::poll))
        .singleElement()
        .asString()
        .startsWith("SEVERE " + folder.resolve("a.yaml") + ":1:9: error: ");
  }

  @Test
  void asADropInTheHintForADuplicateDomainNamesThePeersSwitch() throws IOException {
    Files.createDirectories(folder.resolve("rl/config"));
    write("rl/config/a.yaml", "a", 1);
    Path second = write("rl/config/b.yaml", "a", 2);
    RuntimeFolder runtime = new RuntimeFolder(folder, "rl", "config", true, true);
    assertThat(logged(reloader(unmerged(List.of(), runtime))::poll).getFirst())
        .startsWith("SEVERE " + second + ":1:9: error: the domain `a` is already defined")
        .endsWith("or set MERGE_DOMAIN_CONFIG=true)");
    assertThat(logged(reloader(unmerged(List.of(folder), runtime))::poll).getFirst())
        .endsWith("or set policies.merge_domains: true)");
  }

  @Test
  void aRuntimeFolderWithoutMatchingFilesIsAWarning() throws IOException {
    Files.createDirectories(folder.resolve("rl/config"));
    write("rl/config/a.yaml", "a", 1);
    RuntimeFolder runtime = new RuntimeFolder(folder, "rl", "conf", true, true);
    List<String> logged = logged(reloader(config(List.of(), runtime))::poll);
    String base = folder + "/rl";
    assertThat(logged.getFirst())
        .isEqualTo(
            "WARNING no policies, so every request is admitted: with RUNTIME_APPDIRECTORY=conf and"
                + " RUNTIME_WATCH_ROOT=true only files in %s/conf, or named %s/conf.*, are read;"
                    .formatted(base, base)
                + " skipped %s/config/a.yaml: move it to %s/conf/config/a.yaml, or set"
                    .formatted(base, base)
                + " RUNTIME_APPDIRECTORY=config");
    assertThat(book().domains()).isEmpty();
  }

  @Test
  void misplacedPoliciesAreReportedWithTheirExpectedFolder() throws IOException {
    Files.createDirectories(folder.resolve("rl"));
    Path first = write("rl/a.yaml", "a", 1);
    write("rl/b.yaml", "b", 1);
    RuntimeFolder runtime = new RuntimeFolder(folder, "rl", "config", true, true);
    assertThat(logged(reloader(config(List.of(), runtime))::poll).getFirst())
        .endsWith(
            "; skipped %s and 1 more: move it to %s/rl/config/a.yaml".formatted(first, folder));
  }

  @Test
  void anEmptiedRuntimeFolderRemovesEveryLimitWithAWarning() throws IOException {
    Files.createDirectories(folder.resolve("rl/config"));
    Path only = write("rl/config/a.yaml", "a", 1);
    RuntimeFolder runtime = new RuntimeFolder(folder, "rl", "config", false, true);
    PolicyReloader reloader = reloader(config(List.of(), runtime));
    assertThat(logged(reloader::poll))
        .containsExactly(
            "INFO policies loaded from %s/rl (rules: 1, domains: 1, files: 1)".formatted(folder));
    Files.delete(only);
    assertThat(logged(() -> pollTwice(reloader)).getFirst())
        .isEqualTo(
            "WARNING no policies, so every request is admitted: there is no file in "
                + folder.resolve("rl/config"));
    assertThat(book().domains()).isEmpty();
  }

  private static PolicyConfig unmerged(List<Path> paths, RuntimeFolder runtime) {
    return new PolicyConfig(paths, runtime, null, false, Duration.ofSeconds(1), true, null);
  }

  /** Returns the log of the action: level and text. */
  private static List<String> logged(Runnable action) {
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      action.run();
      return logged.linesWithCauses();
    }
  }

  /** At the default level of envoyproxy/ratelimit, the errors are shown and information is not. */
  @Test
  void theCorrectionOfFilesWithErrorsIsLoggedAtTheLevelOfWarnings() throws IOException {
    write("a.yaml", "a", 1);
    PolicyReloader reloader = reloader(folder);
    assertThat(logged(reloader::poll))
        .singleElement()
        .asString()
        .startsWith("INFO policies loaded");
    Files.writeString(folder.resolve("a.yaml"), "domain: ''\n");
    assertThat(logged(() -> pollTwice(reloader))).isNotEmpty();
    write("a.yaml", "a", 2);
    assertThat(logged(() -> pollTwice(reloader)))
        .containsExactly(
            "WARNING policies loaded again from " + folder + " (rules: 1, domains: 1, files: 1)");
    write("a.yaml", "a", 3);
    assertThat(logged(() -> pollTwice(reloader)))
        .singleElement()
        .asString()
        .startsWith("INFO policies loaded from");
  }

  @Test
  void noPoliciesAreActiveWhileTheFirstLoadFails() throws IOException {
    Files.writeString(folder.resolve("a.yaml"), "domain: ''\n");
    PolicyReloader reloader = reloader(folder);
    assertThat(reloader.poll()).isTrue();
    assertThat(store.book()).isNull();
    assertThat(store.status().generation()).isZero();
    assertThat(store.status().loadedAtMillis()).isZero();
  }

  /** Later than the time of any file here, so that files count as settled. */
  private static final long FAR_FUTURE = 4_000_000_000_000L;

  private PolicyReloader reloader(Path path) {
    return reloader(config(List.of(path), new RuntimeFolder(path, "", "", true, true)));
  }

  private PolicyReloader reloader(PolicyConfig config) {
    PolicyReloader reloader =
        new PolicyReloader(config, alone(config), store, new FixedTime(FAR_FUTURE), loads::add);
    reloaders.add(reloader);
    return reloader;
  }

  private static LoadOptions alone(PolicyConfig config) {
    return PolicyReloader.options(config, false, true, true);
  }

  private static PolicyConfig config(List<Path> paths, RuntimeFolder runtime) {
    return new PolicyConfig(paths, runtime, null, true, Duration.ofSeconds(1), true, null);
  }

  /** Polls twice, as a change needs: once to see it, and again to see that it is complete. */
  private static boolean pollTwice(PolicyReloader reloader) {
    boolean first = reloader.poll();
    return reloader.poll() || first;
  }

  private void configMap(String version, long limit) throws IOException {
    Files.createDirectory(folder.resolve(version));
    write(version + "/a.yaml", "a", limit);
  }

  private Path write(String file, String domain, long limit) throws IOException {
    return Files.writeString(
        folder.resolve(file),
        "domain: %s\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: %d}}]\n"
            .formatted(domain, limit));
  }

  private PolicyBook book() {
    return Objects.requireNonNull(store.book());
  }

  private long limit(String domain) {
    return Objects.requireNonNull(
            Objects.requireNonNull(book().domain(domain)).match(new String[] {"k", "v"}))
        .limits()
        .getFirst()
        .requestsPerUnit();
  }
}
