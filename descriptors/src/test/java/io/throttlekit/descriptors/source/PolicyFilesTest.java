package io.throttlekit.descriptors.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

class PolicyFilesTest {
  @TempDir private Path folder;

  @Test
  void readsYamlFilesOfFoldersSortedByRelativePath() throws IOException {
    write("b.yaml", "b");
    write("a/z.yml", "z");
    write("a/a.YAML", "a");
    write("notes.txt", "no");
    write(".hidden.yaml", "no");
    write(".git/x.yaml", "no");

    assertThat(PolicyFiles.read(List.of(folder)).whole())
        .containsExactly(source("a/a.YAML", "a"), source("a/z.yml", "z"), source("b.yaml", "b"));
  }

  @Test
  void rejectsAFolderWithoutPolicies() throws IOException {
    write("notes.txt", "no");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)).whole())
        .isInstanceOf(IOException.class)
        .hasMessage(folder + ": there is no *.yaml or *.yml file below this folder");
  }

  @Test
  void readsAnExplicitFileOfAnyName() throws IOException {
    Path file = write(".policy", "domain: d");
    assertThat(PolicyFiles.read(List.of(file)).whole())
        .containsExactly(new PolicySource(file.toString(), "domain: d"));
  }

  @Test
  void readsAConfigMapOnceThroughItsLinks() throws IOException {
    write("..2026/shop.yaml", "domain: shop");
    link("..data", "..2026");
    link("shop.yaml", "..data/shop.yaml");

    assertThat(PolicyFiles.read(List.of(folder)).whole())
        .containsExactly(source("shop.yaml", "domain: shop"));
  }

  @Test
  void readsAFolderThatIsALink() throws IOException {
    write("real/shop.yaml", "s");
    Path link = link("current", "real");
    assertThat(PolicyFiles.read(List.of(link)).whole())
        .containsExactly(new PolicySource(link.resolve("shop.yaml").toString(), "s"));
  }

  @Test
  void namesThePathThatDoesNotExist() {
    Path missing = folder.resolve("missing.yaml");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(missing)).whole())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("cannot read", missing.toString(), "no such file");
  }

  @Test
  void namesAFileThatVanishedBetweenListingAndReading() throws IOException {
    link("gone.yaml", "nowhere");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)).whole())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("gone.yaml", "no such file");
  }

  @Test
  void reportsACyclicLink() throws IOException {
    write("a/x.yaml", "x");
    link("a/back", "..");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)).whole())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("back");
  }

  @Test
  void leavesTooLargeAndBinaryFilesToTheLoader() throws IOException {
    Path large = folder.resolve("large.yaml");
    Files.write(large, new byte[SourceText.MAX_BYTES + 5_000]);
    Path binary = folder.resolve("x.yaml");
    Files.write(binary, new byte[] {'d', (byte) 0xC0});

    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(PolicyFiles.read(List.of(folder)).whole());

    assertThat(result.problems())
        .extracting(Problem::toString)
        .satisfiesExactly(
            first -> assertThat(first).contains("large.yaml:1:1: error: larger than 16 MiB"),
            second -> assertThat(second).contains("x.yaml:1:2: error: not a text file"));
  }

  @Test
  void readsTheFilesOfARuntimeRootByPrefix() throws IOException {
    write("v1/ratelimit/config/basic.yaml", "1");
    write("v1/ratelimit/config.other", "2");
    write("v1/ratelimit/config/deep/er.yaml", "3");
    write("v1/ratelimit/configuration.yaml", "no");
    write("v1/ratelimit/readme", "no");
    write("v1/elsewhere/config/x.yaml", "no");
    Path root = link("current", "v1");

    assertThat(PolicyFiles.readRuntime(root, "ratelimit", "config", true, false).whole())
        .containsExactly(
            source("current/ratelimit/config/basic.yaml", "1"),
            source("current/ratelimit/config/deep/er.yaml", "3"),
            source("current/ratelimit/config.other", "2"));
    assertThat(
            PolicyFiles.readRuntime(root.resolve("ratelimit"), "", "config", true, false).whole())
        .hasSize(3);
  }

  @Test
  void readsAllFilesOfTheRuntimeFolderItself() throws IOException {
    write("ratelimit/config/basic", "1");
    write("ratelimit/config/sub/more.yaml", "2");
    write("ratelimit/config.no", "no");

    assertThat(PolicyFiles.readRuntime(folder, "/ratelimit", "config", false, false).whole())
        .containsExactly(
            source("ratelimit/config/basic", "1"), source("ratelimit/config/sub/more.yaml", "2"));
    assertThat(PolicyFiles.readRuntime(folder, "ratelimit", "", false, false).whole()).hasSize(3);
  }

  @Test
  void readsDotFilesOfARuntimeRootUnlessConfiguredNotTo() throws IOException {
    write("config/..2026/shop.yaml", "s");
    link("config/..data", "..2026");
    link("config/shop.yaml", "..data/shop.yaml");

    assertThat(PolicyFiles.readRuntime(folder, "", "config", false, false).whole())
        .extracting(PolicySource::name)
        .containsExactly(path("config/..2026/shop.yaml"), path("config/shop.yaml"));
    assertThat(PolicyFiles.readRuntime(folder, "", "config", false, true).whole())
        .extracting(PolicySource::name)
        .containsExactly(path("config/shop.yaml"));
  }

  @Test
  void namesTheRuntimeFolderThatDoesNotExist() {
    assertThatThrownBy(
            () -> PolicyFiles.readRuntime(folder, "ratelimit", "config", true, false).whole())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(folder.resolve("ratelimit").toString());
  }

  @Test
  void reportsEachUnreadablePathAndReadsTheRest() throws IOException {
    Path first = write("a.yaml", "a");
    link("b.yaml", "nowhere");
    write("c.yaml", "c");
    Files.createDirectories(folder.resolve("d/e.yaml"));
    link("d/back.yaml", "..");
    Path missing = folder.resolve("missing");

    PolicyFiles.Sources reading = PolicyFiles.read(List.of(missing, folder, first));

    assertThat(reading.sources())
        .containsExactly(source("a.yaml", "a"), source("c.yaml", "c"), source("a.yaml", "a"));
    assertThat(reading.problems())
        .extracting(Problem::toString)
        .containsExactly(
            missing + ":1:1: error: cannot read: no such file or folder",
            path("d/back.yaml")
                + ":1:1: error: cannot read: a link that leads back to a folder it is in",
            path("b.yaml") + ":1:1: error: cannot read: no such file or folder");
    assertThatThrownBy(reading::whole)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(missing.toString(), "back.yaml", "b.yaml");
  }

  /** Reading a pipe or a device could block for ever, or never end. */
  @Test
  @Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD) // opening a pipe blocks
  void reportsWhatIsNoFileWithoutReadingIt() throws Exception {
    write("a.yaml", "a");
    Path pipe = pipe("b.yaml");
    pipe("no-policy");
    Path device = link("c.yaml", "/dev/zero");
    link("d.yaml", "d.yaml");
    try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.bind(UnixDomainSocketAddress.of(folder.resolve("e.yaml")));
      PolicyFiles.Sources reading = PolicyFiles.read(List.of(folder, pipe));

      assertThat(reading.sources()).containsExactly(source("a.yaml", "a"));
      String noFile = ":1:1: error: cannot read: a pipe, socket or device, not a file";
      assertThat(reading.problems())
          .extracting(Problem::toString)
          .containsExactly(
              path("b.yaml") + noFile,
              path("c.yaml") + noFile,
              path("d.yaml")
                  + ":1:1: error: cannot read: a link that leads to itself, or through too many"
                  + " others",
              path("e.yaml") + noFile,
              path("b.yaml") + noFile);
    }
    Files.delete(device); // JUnit warns of links that lead out of its folder
  }

  @Test
  @Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD) // opening a pipe blocks
  void reportsWhatIsNoFileInARuntimeRootWhereItsNameCounts() throws Exception {
    write("rl/config/a.yaml", "a");
    pipe("rl/config/pipe");
    pipe("rl/other");
    link("rl/config/loop", "loop");
    link("rl/config/folder", "..");
    PolicyFiles.Sources reading = PolicyFiles.readRuntime(folder, "rl", "config", true, false);
    assertThat(reading.sources()).hasSize(1);
    assertThat(reading.problems())
        .extracting(problem -> problem.location().file())
        .containsExactly(path("rl/config/loop"), path("rl/config/pipe"));
  }

  @Test
  void namesFilesOfARuntimeRootByPathsThatCanBeOpened() throws IOException {
    write("rl/config/basic.yaml", "1");
    assertThat(PolicyFiles.readRuntime(folder, "rl", "config", true, false).whole())
        .allSatisfy(source -> assertThat(Path.of(source.name())).hasContent("1"))
        .hasSize(1);
  }

  private String path(String relative) {
    return folder.resolve(relative).toString();
  }

  private PolicySource source(String relative, String text) {
    return new PolicySource(folder.resolve(relative).toString(), text);
  }

  private Path write(String relative, String text) throws IOException {
    Path file = folder.resolve(relative);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    return Files.writeString(file, text);
  }

  private Path pipe(String relative) throws Exception {
    Path pipe = folder.resolve(relative);
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    return pipe;
  }

  private Path link(String relative, String target) throws IOException {
    return Files.createSymbolicLink(folder.resolve(relative), Path.of(target));
  }
}
