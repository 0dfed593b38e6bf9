package io.throttlekit.descriptors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
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

    assertThat(PolicyFiles.read(List.of(folder)))
        .containsExactly(source("a/a.YAML", "a"), source("a/z.yml", "z"), source("b.yaml", "b"));
  }

  @Test
  void takesAFolderWithoutPoliciesForAMistake() throws IOException {
    write("notes.txt", "no");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no *.yaml or *.yml file below " + folder);
  }

  @Test
  void readsAFileWhateverItsName() throws IOException {
    Path file = write(".policy", "domain: d");
    assertThat(PolicyFiles.read(List.of(file)))
        .containsExactly(new PolicySource(file.toString(), "domain: d"));
  }

  @Test
  void readsAConfigMapOnceThroughItsLinks() throws IOException {
    write("..2026/shop.yaml", "domain: shop");
    link("..data", "..2026");
    link("shop.yaml", "..data/shop.yaml");

    assertThat(PolicyFiles.read(List.of(folder)))
        .containsExactly(source("shop.yaml", "domain: shop"));
  }

  @Test
  void readsAFolderThatIsALink() throws IOException {
    write("real/shop.yaml", "s");
    Path link = link("current", "real");
    assertThat(PolicyFiles.read(List.of(link)))
        .containsExactly(new PolicySource(link.resolve("shop.yaml").toString(), "s"));
  }

  @Test
  void namesThePathThatDoesNotExist() {
    Path missing = folder.resolve("missing.yaml");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(missing)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("cannot read", missing.toString(), "no such file");
  }

  @Test
  void namesAFileThatVanishedBetweenListingAndReading() throws IOException {
    link("gone.yaml", "nowhere");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("gone.yaml", "no such file");
  }

  @Test
  void namesALinkThatLeadsBack() throws IOException {
    write("a/x.yaml", "x");
    link("a/back", "..");
    assertThatThrownBy(() -> PolicyFiles.read(List.of(folder)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("back");
  }

  @Test
  void letsTheLoaderSayThatAFileIsTooLargeOrNotText() throws IOException {
    Path large = folder.resolve("large.yaml");
    Files.write(large, new byte[SourceText.MAX_BYTES + 5_000]);
    Path binary = folder.resolve("x.yaml");
    Files.write(binary, new byte[] {'d', (byte) 0xC0});

    LoadResult result =
        new PolicyLoader(new LoadOptions(false)).load(PolicyFiles.read(List.of(folder)));

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

    assertThat(PolicyFiles.readRuntime(root, "ratelimit", "config", true, false))
        .containsExactly(
            new PolicySource("config.basic.yaml", "1"),
            new PolicySource("config.deep.er.yaml", "3"),
            new PolicySource("config.other", "2"));
    assertThat(PolicyFiles.readRuntime(root.resolve("ratelimit"), "", "config", true, false))
        .hasSize(3);
  }

  @Test
  void readsAllFilesOfTheRuntimeFolderItself() throws IOException {
    write("ratelimit/config/basic", "1");
    write("ratelimit/config/sub/more.yaml", "2");
    write("ratelimit/config.no", "no");

    assertThat(PolicyFiles.readRuntime(folder, "/ratelimit", "config", false, false))
        .containsExactly(new PolicySource("basic", "1"), new PolicySource("sub.more.yaml", "2"));
    assertThat(PolicyFiles.readRuntime(folder, "ratelimit", "", false, false)).hasSize(3);
  }

  @Test
  void readsDotFilesOfARuntimeRootUnlessTold() throws IOException {
    write("config/..2026/shop.yaml", "s");
    link("config/..data", "..2026");
    link("config/shop.yaml", "..data/shop.yaml");

    assertThat(PolicyFiles.readRuntime(folder, "", "config", false, false))
        .extracting(PolicySource::name)
        .containsExactly("..2026.shop.yaml", "shop.yaml");
    assertThat(PolicyFiles.readRuntime(folder, "", "config", false, true))
        .extracting(PolicySource::name)
        .containsExactly("shop.yaml");
  }

  @Test
  void namesTheRuntimeFolderThatDoesNotExist() {
    assertThatThrownBy(() -> PolicyFiles.readRuntime(folder, "ratelimit", "config", true, false))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(folder.resolve("ratelimit").toString());
  }

  private PolicySource source(String relative, String text) {
    return new PolicySource(folder.resolve(relative).toString(), text);
  }

  private Path write(String relative, String text) throws IOException {
    Path file = folder.resolve(relative);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    return Files.writeString(file, text);
  }

  private Path link(String relative, String target) throws IOException {
    return Files.createSymbolicLink(folder.resolve(relative), Path.of(target));
  }
}
