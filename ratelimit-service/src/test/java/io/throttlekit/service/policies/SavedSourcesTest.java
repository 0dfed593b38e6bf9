package io.throttlekit.service.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.server.FixedTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts with the policy files that an earlier process has kept in {@code last_good_folder}. */
class SavedSourcesTest {
  @TempDir private Path folder;
  private Path state = Path.of("");
  private Path file = Path.of("");
  private PolicyStore store = new PolicyStore();
  private final List<PolicyReloader> reloaders = new ArrayList<>();

  @BeforeEach
  void create() throws IOException {
    state = Files.createDirectory(folder.resolve("state"));
    file = Files.createDirectory(folder.resolve("policies")).resolve("ä.yaml");
  }

  @AfterEach
  void close() {
    reloaders.forEach(PolicyReloader::close);
  }

  @ParameterizedTest
  @ValueSource(strings = {"domain: ''\n", "no file"})
  void aStartWithoutValidFilesAppliesThem(String now) throws IOException {
    write("ü", 7);
    assertThat(start().poll()).isTrue();
    if (now.equals("no file")) {
      Files.delete(file);
    } else {
      Files.writeString(file, now);
    }
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      PolicyReloader next = start();
      next.poll();
      assertThat(limit()).isEqualTo(7);
      assertThat(book().domains()).containsExactly("ü");
      assertThat(store.status().good()).isFalse();
      assertThat(store.status().lastError())
          .isEqualTo("1 error; those of an earlier process apply");
      assertThat(logged.lines())
          .contains(
              "SEVERE policies not loaded: 1 error; those of an earlier process apply (rules: 1,"
                  + " domains: 1)");
      write("ü", 8);
      next.poll();
      next.poll();
    }
    assertThat(limit()).isEqualTo(8);
    assertThat(store.status().good()).isTrue();
  }

  @Test
  void validFilesReplaceThem() throws IOException {
    write("a", 1);
    start().poll();
    write("a", 2);
    start().poll();
    assertThat(limit()).isEqualTo(2);
    assertThat(store.status().generation()).isOne();
  }

  @Test
  void aSlowDiskDelaysNoReload() throws Exception {
    write("a", 1);
    CountDownLatch slow = new CountDownLatch(1);
    ExecutorService writer = Executors.newSingleThreadExecutor();
    writer.execute(() -> awaitQuietly(slow));
    PolicyReloader reloader =
        new PolicyReloader(
            config(true),
            store,
            new FixedTime(4_000_000_000_000L),
            _ -> {},
            new PolicyLoader(new LoadOptions(true))::load,
            new SavedSources(state, writer, Duration.ofMinutes(4)));
    reloaders.add(reloader);
    reloader.poll();
    assertThat(limit()).isOne();
    write("a", 2);
    reloader.poll();
    reloader.poll();
    assertThat(limit()).isEqualTo(2);
    assertThat(state).isEmptyDirectory();
    slow.countDown();
    Files.delete(file);
    start().poll(); // the stop has waited for the newest ones
    assertThat(limit()).isEqualTo(2);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aFailedChangeKeepsTheLastGoodOnes() throws IOException {
    write("a", 1);
    PolicyReloader reloader = start();
    reloader.poll();
    Files.writeString(file, "domain: ''\n");
    reloader.poll();
    reloader.poll();
    start().poll();
    assertThat(limit()).isOne();
  }

  @Test
  void brokenOnesAreIgnoredWithAWarning() throws IOException {
    write("a", 1);
    PolicyReloader earlier = start();
    earlier.poll();
    earlier.close();
    Path saved = state.resolve(SavedSources.NAME);
    byte[] content = Files.readAllBytes(saved);
    content[content.length - 1] ^= 1;
    Files.write(saved, content);
    Files.writeString(file, "domain: ''\n");
    try (Logged logged = Logged.by(SavedSources.class)) {
      start().poll();
      assertThat(logged.lines())
          .containsExactly("WARNING " + saved + " is ignored: it is broken, or of another version");
    }
    assertThat(store.book()).isNull();
  }

  @Test
  void onesThatAreNotValidAnyMoreAreIgnoredWithAWarning() throws IOException {
    write("a", 1);
    Path second = file.resolveSibling("b.yaml");
    Files.copy(file, second);
    Files.writeString(second, Files.readString(second).replace("key: k", "key: l"));
    start(config(true), _ -> {}).poll();
    assertThat(book().rules()).hasSize(2);
    Files.writeString(second, "domain: ''\n");
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      start(config(false), _ -> {}).poll();
      assertThat(logged.lines())
          .contains("WARNING the policies of an earlier process are ignored: they have errors now")
          .last()
          .asString()
          .endsWith("none are active");
    }
    assertThat(store.book()).isNull();
  }

  private PolicyReloader start() {
    return start(config(true), _ -> {});
  }

  /** Starts a process after the end of the earlier ones. */
  private PolicyReloader start(PolicyConfig config, PolicyReloader.Listener listener) {
    reloaders.forEach(PolicyReloader::close);
    store = new PolicyStore();
    PolicyReloader reloader =
        new PolicyReloader(
            config,
            PolicyReloader.options(config, false, true, true),
            store,
            new FixedTime(4_000_000_000_000L),
            listener);
    reloaders.add(reloader);
    return reloader;
  }

  private PolicyConfig config(boolean mergeDomains) {
    List<Path> paths = List.of(file.getParent());
    return new PolicyConfig(paths, null, null, mergeDomains, Duration.ofSeconds(1), false, state);
  }

  private PolicyBook book() {
    return Objects.requireNonNull(store.book());
  }

  private long limit() {
    return book().rules().getFirst().limits().getFirst().requestsPerUnit();
  }

  private void write(String domain, long limit) throws IOException {
    Files.writeString(
        file,
        "domain: %s\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: %d}}]\n"
            .formatted(domain, limit));
  }
}
