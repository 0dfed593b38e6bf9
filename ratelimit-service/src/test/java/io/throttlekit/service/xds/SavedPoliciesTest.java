package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.Logged;
import io.throttlekit.service.policies.ControlPlaneStatus.RejectedPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The last good policies outlive the process where a folder is configured. */
class SavedPoliciesTest {
  private static final String GOOD =
      "descriptors { key: '%s' rate_limit { unit: HOUR requests_per_unit: %d } } ";

  @TempDir private Path folder;

  private ControlPlaneFixture start() {
    return new ControlPlaneFixture(folder, null);
  }

  private Path file() {
    return folder.resolve(SavedConfigs.NAME);
  }

  @Test
  void theNextProcessBeginsWithThePolicies() throws IOException {
    ControlPlaneFixture first = start();
    assertThat(first.store.book()).isNull();
    first.receive("7", ControlPlaneFixture.recorded("routes"));
    ControlPlaneFixture second = start();
    assertThat(second.rules()).isEqualTo(first.rules()).hasSize(13);
    assertThat(second.store.status().good()).isTrue();
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(file());
    }
  }

  @Test
  void theSameSetAfterARestartChangesNothing() {
    start().receive("7", ControlPlaneFixture.recorded("routes"));
    ControlPlaneFixture second = start();
    Object book = second.book();
    second.receive("1", ControlPlaneFixture.recorded("routes").reversed());
    assertThat(second.book()).isSameAs(book);
  }

  @Test
  void lastGoodStatesOfDescriptorsAreKeptToo() {
    ControlPlaneFixture first = start();
    first.receiveDomain(GOOD.formatted("a", 1) + GOOD.formatted("b", 1));
    String bad = "descriptors { key: 'b' rate_limit { unit: 77 } }";
    first.receiveDomain(GOOD.formatted("a", 2) + bad);
    ControlPlaneFixture second = start();
    List<String> rules = List.of("a: 2 per hour (fixed_window)", "b: 1 per hour (fixed_window)");
    assertThat(second.rules()).isEqualTo(rules);
    second.receiveDomain(GOOD.formatted("a", 2) + bad);
    assertThat(second.rules()).isEqualTo(rules);
  }

  @Test
  void whatIsInTheFileIsNotWrittenAgain() throws IOException {
    ControlPlaneFixture service = start();
    service.receiveDomain(GOOD.formatted("a", 1));
    Files.delete(file());
    service.receiveDomain(GOOD.formatted("a", 1) + "descriptors { key: 'b' rate_limit { } }");
    assertThat(file()).doesNotExist();
    service.receiveDomain(GOOD.formatted("a", 2));
    assertThat(file()).exists();
  }

  @Test
  void policiesThatWereRemovedDoNotComeBack() {
    ControlPlaneFixture first = start();
    first.receiveDomain(GOOD.formatted("a", 1));
    first.receive("");
    assertThat(start().book().domains()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 50, 90, 100, -1})
  void aBrokenFileIsIgnoredWithAWarning(int length) throws IOException {
    start().receiveDomain(GOOD.formatted("a", 1));
    byte[] whole = Files.readAllBytes(file());
    byte[] broken = Arrays.copyOf(whole, length < 0 ? whole.length : length);
    if (length < 0) {
      broken[whole.length - 1] ^= 1;
    }
    Files.write(file(), broken);
    try (Logged logged = Logged.by(SavedConfigs.class)) {
      ControlPlaneFixture next = start();
      assertThat(next.store.book()).isNull();
      assertThat(logged.lines())
          .containsExactly(
              "WARNING " + file() + " is ignored: it is broken, or of another version");
      next.receiveDomain(GOOD.formatted("a", 1));
    }
    assertThat(Files.readAllBytes(file())).isEqualTo(whole);
  }

  @Test
  void aFaultWhileTheyAreLoadedDoesNotPreventTheStart() {
    start().receiveDomain(GOOD.formatted("a", 1));
    ControlPlaneFixture next = new ControlPlaneFixture(folder, null, 100_000, 1);
    assertThat(next.store.status().lastError()).contains("unexpected");
    assertThat(rejected(next)).containsExactly("the newest policies: a fault of this program");
    assertThat(next.receiveDomain(GOOD.formatted("a", 1))).isEmpty();
    assertThat(next.store.status().good()).isTrue();
    assertThat(rejected(next)).isEmpty();
  }

  private static List<String> rejected(ControlPlaneFixture service) {
    return Objects.requireNonNull(service.store.controlPlane()).rejectedParts().stream()
        .map(RejectedPart::text)
        .toList();
  }

  @Test
  void aFileThatIsTooLargeOrNoFileIsIgnored() throws IOException {
    try (Logged logged = Logged.by(SavedConfigs.class)) {
      Files.write(file(), new byte[1_001]);
      assertThat(new SavedConfigs(folder, 1_000).read()).isNull();
      Files.delete(file());
      Files.createDirectory(file());
      assertThat(new SavedConfigs(folder, 1_000).read()).isNull();
      assertThat(logged.lines())
          .containsExactly(
              "WARNING " + file() + " is ignored: it is larger than 1000 bytes",
              "WARNING " + file() + " is ignored: it is no regular file");
    }
  }

  @Test
  void aLinkIsReplacedAndNotFollowed() throws IOException {
    Path other = Files.writeString(folder.resolve("other"), "kept");
    Files.createSymbolicLink(folder.resolve(SavedConfigs.NAME + ".next"), other);
    Files.createSymbolicLink(file(), other);
    start().receiveDomain(GOOD.formatted("a", 1));
    assertThat(other).hasContent("kept");
    assertThat(start().rules()).containsExactly("a: 1 per hour (fixed_window)");
  }

  @Test
  void aLinkIsIgnored() throws IOException {
    start().receiveDomain(GOOD.formatted("a", 1));
    Path other = folder.resolve("other");
    Files.move(file(), other);
    Files.createSymbolicLink(file(), other);
    try (Logged logged = Logged.by(SavedConfigs.class)) {
      assertThat(new SavedConfigs(folder, 1_000_000).read()).isNull();
      assertThat(logged.lines())
          .containsExactly("WARNING " + file() + " is ignored: it is no regular file");
    }
  }

  @Test
  void aFolderThatCannotBeWrittenIsAWarning() throws IOException {
    Path none = folder.resolve("file");
    Files.writeString(none, "");
    try (Logged logged = Logged.by(SavedConfigs.class)) {
      ControlPlaneFixture service = new ControlPlaneFixture(none, null);
      service.receiveDomain(GOOD.formatted("a", 1));
      service.receiveDomain(GOOD.formatted("a", 2));
      assertThat(service.rules()).hasSize(1);
      assertThat(logged.lines().stream().filter(line -> line.contains("is not written, and")))
          .hasSize(1);
    }
  }

  @Test
  void aStopRightAfterAChangeWaitsUntilItIsSaved() {
    ExecutorService writer = Executors.newSingleThreadExecutor();
    ControlPlaneFixture service =
        new ControlPlaneFixture(ControlPlaneFixture.savedBy(folder, writer, Duration.ofMinutes(2)));
    service.receiveDomain(GOOD.formatted("a", 1));
    service.stopAtNextLoad();
    service.receiveDomain(GOOD.formatted("a", 2));
    assertThat(writer.isTerminated()).isTrue();
    assertThat(start().rules()).containsExactly("a: 2 per hour (fixed_window)");
  }

  @Test
  void aDiskThatHangsDelaysNeitherPoliciesNorTheStopAndTheNewestOnesAreWrittenAfterIt()
      throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    ExecutorService writer = Executors.newSingleThreadExecutor();
    Future<?> hung =
        writer.submit(() -> {
          hanging.await();
          return null;
        });
    try (Logged logged = Logged.by(SavedConfigs.class)) {
      ControlPlaneFixture service =
          new ControlPlaneFixture(ControlPlaneFixture.savedBy(folder, writer, Duration.ofNanos(1)));
      for (int limit = 1; limit <= 3; limit++) {
        assertThat(service.receiveDomain(GOOD.formatted("a", limit))).isEmpty();
        assertThat(service.rules()).containsExactly("a: " + limit + " per hour (fixed_window)");
      }
      service.policies.close();
      assertThat(logged.lines())
          .endsWith(
              "WARNING "
                  + file()
                  + " may lack the newest policies: the disk is too slow for the"
                  + " stop");
      assertThat(file()).doesNotExist();
    } finally {
      hanging.countDown();
    }
    hung.get();
    assertThat(writer.awaitTermination(2, TimeUnit.MINUTES)).isTrue();
    assertThat(start().rules()).containsExactly("a: 3 per hour (fixed_window)");
  }

  @Test
  void policiesThatArriveAfterTheStopAreNotSaved() {
    start().receiveDomain(GOOD.formatted("a", 1));
    ControlPlaneFixture stopped = new ControlPlaneFixture(new SavedConfigs(folder));
    stopped.policies.close();
    assertThat(stopped.receiveDomain(GOOD.formatted("a", 2))).isEmpty();
    assertThat(start().rules()).containsExactly("a: 1 per hour (fixed_window)");
  }
}
