package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFileTest {

  @TempDir private Path folder;

  @Test
  void reportsEveryErrorWithItsLocationAndASuggestion() throws IOException {
    List<String> errors =
        errors(
            """
            grpc:
              prot: 8081
              port: 70000
              drain_timeout: soon
            htpp:
              port: 1
            response:
              headers: true
            compatibility:
              charge_rejected: yes
              charge_rejected: true
            ? [a]
            : 1
            """);
    assertThat(errors)
        .containsExactly(
            "2:3: unknown key \"grpc.prot\" (did you mean port?)",
            "3:9: \"70000\" is not a port (a whole number from 0 to 65535, 0 for any free one)",
            "4:18: \"soon\" is not a duration from 0s to 1h, such as 500ms, 10s or 1h30m",
            "5:1: unknown key \"htpp\" (did you mean http?)",
            "8:12: response.headers has to be a map of enabled, limit, remaining, reset",
            "10:20: \"yes\" is not true or false",
            "11:3: charge_rejected is given twice",
            "12:3: a key has to be a name");
  }

  @Test
  void reportsTheLocationOfAYamlError() throws IOException {
    assertThat(errors("grpc:\n  port: [1\n")).singleElement().asString().contains("not YAML");
  }

  @Test
  void aListInPlaceOfAValueIsAnError() throws IOException {
    assertThat(errors("grpc: {port: [1, 2]}"))
        .singleElement()
        .asString()
        .startsWith("1:14: grpc.port has to be a port");
  }

  @Test
  void emptyFilesSectionsAndValuesSetNothing() throws IOException {
    assertThat(errors("")).isEmpty();
    assertThat(errors("# nothing\n")).isEmpty();
    assertThat(errors("grpc:\nhttp:\n  port:\n")).isEmpty();
  }

  @Test
  void aRootThatIsNotAMapIsAnError() throws IOException {
    assertThat(errors("- a")).singleElement().asString().contains("the file has to be a map");
  }

  @Test
  void aMissingFileIsAnError() {
    SettingValues values = new SettingValues();
    ConfigFile.read(folder.resolve("none.yaml"), values);
    assertThat(values.errors()).singleElement().asString().endsWith("there is no such file");
  }

  @Test
  void aFolderIsAnError() {
    SettingValues values = new SettingValues();
    ConfigFile.read(folder, values);
    assertThat(values.errors()).singleElement().asString().contains("cannot be read");
  }

  @Test
  void bytesThatAreNotTextAreAnError() throws IOException {
    Path file = Files.write(folder.resolve("c.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    SettingValues values = new SettingValues();
    ConfigFile.read(file, values);
    assertThat(values.errors()).singleElement().asString().contains("not UTF-8");
  }

  @Test
  void absurdNestingIsAnErrorAndNoCrash() throws IOException {
    assertThat(errors("[".repeat(200_000))).hasSize(1);
  }

  private List<String> errors(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("c.yaml"), text);
    SettingValues values = new SettingValues();
    ConfigFile.read(file, values);
    return values.errors().stream().map(e -> e.replace(file + ":", "")).toList();
  }
}
