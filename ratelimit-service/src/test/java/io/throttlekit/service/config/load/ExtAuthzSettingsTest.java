package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Constant;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExtAuthzSettingsTest {
  private static final ExtAuthzConfig SHOP =
      new ExtAuthzConfig(
          "shop",
          List.of(
              new RequestDescriptor(List.of(new Entry("user", new Header("x-user"), null))),
              new RequestDescriptor(
                  List.of(
                      new Entry("upstream", new Context("upstream"), null),
                      new Entry("method", Attribute.METHOD, null))),
              new RequestDescriptor(List.of(new Entry("service", new Constant("all"), null)))),
          false);

  @TempDir private Path folder;

  private final Map<String, String> environment = new HashMap<>();

  @Test
  void isDisabledWithoutDescriptors() throws IOException {
    assertThat(Objects.requireNonNull(load("").config()).extAuthz()).isNull();
    LoadedConfig idle = load("ext_authz: {domain: shop, undescribed: allow, descriptors: []}");
    assertThat(Objects.requireNonNull(idle.config()).extAuthz()).isNull();
    assertThat(idle.warnings())
        .anyMatch(warning ->
            warning.startsWith("ext_authz.domain (")
                && warning.endsWith(") has no effect: there are no ext_authz.descriptors"))
        .anyMatch(warning -> warning.startsWith("ext_authz.undescribed ("));
  }

  @Test
  void readsTheDocumentedExample() throws IOException {
    Matcher shown =
        Pattern.compile("```yaml\n(ext_authz:.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("..", "docs", "CONFIGURATION.md")));
    assertThat(shown.find()).isTrue();
    LoadedConfig loaded = load(shown.group(1));
    assertThat(loaded.errors()).isEmpty();
    assertThat(extAuthz(loaded)).isEqualTo(SHOP);
  }

  @Test
  void readsTheSameFromTheEnvironment() throws IOException {
    environment.put("THROTTLEKIT_EXT_AUTHZ_DOMAIN", "shop");
    environment.put(
        "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
        """
        [{entries: [{key: user, header: x-user}]},
         {entries: [{key: upstream, context: upstream}, {key: method, attribute: method}]},
         {entries: [{key: service, value: all}]}]
        """);
    assertThat(extAuthz(load(""))).isEqualTo(SHOP);
  }

  @Test
  void inShadowModeUndescribedRequestsAreAdmitted() throws IOException {
    String file = "ext_authz: {descriptors: [{entries: [{key: u, header: x}]}]}";
    assertThat(extAuthz(load(file)).admitsUndescribed()).isFalse();
    environment.put("THROTTLEKIT_COMPATIBILITY_SHADOW_MODE", "true");
    assertThat(extAuthz(load(file)).admitsUndescribed()).isTrue();
  }

  @Test
  void errorsInTheEnvironmentAreReportedWithTheirPosition() throws IOException {
    environment.put("THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS", "[{entries: [{key: u, haeder: x}]}]");
    assertThat(load("").errors())
        .singleElement()
        .asString()
        .startsWith("env THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS: ")
        .contains("line 1, column 22: unknown key \"haeder\" in an entry (did you mean header?)");
    for (String text : List.of("[", "[".repeat(100_000), "a", "# nothing", "~")) {
      environment.put("THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS", text);
      assertThat(load("").errors()).hasSize(1);
    }
    environment.put("THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS", "[".repeat(100_000));
    assertThat(load("").errors().getFirst()).contains("not YAML: nested too deeply");
  }

  @Test
  void thePrintedConfigurationIsReadBack() throws IOException {
    String odd =
        """
        ext_authz:
          domain: "a: b"
          undescribed: ALLOW
          descriptors:
            - {entries: [{key: "k: {", value: "#[]\\"\\\\"}, {key: "true", header: ":authority"}]}
            - entries:
                - {key: a, attribute: source_address, default: ""}
                - {key: b, attribute: path_without_query, default: none}
                - {key: c, context: "~", default: "null"}
        """;
    LoadedConfig loaded = load(odd);
    assertThat(loaded.errors()).isEmpty();
    ExtAuthzConfig read = extAuthz(loaded);
    assertThat(read.admitsUndescribed()).isTrue();
    assertThat(extAuthz(load(loaded.yaml()))).isEqualTo(read);
  }

  @Test
  void everyErrorIsReportedWithItsLocation() throws IOException {
    assertThat(
            errors(
                """
                ext_authz:
                  descriptors:
                    - entries: []
                    - {}
                    - text
                    - {entreis: [], entries: [{key: a, value: b}]}
                    - entries:
                        - {header: x}
                        - {key: "", header: x}
                        - {key: a}
                        - {key: a, header: x, context: y}
                        - {key: a, header: X-User}
                        - {key: a, header: "x y"}
                        - {key: a, attribute: methd}
                        - {key: a, context: ""}
                        - {key: a, value: [1]}
                        - {key: a, value: b, default: c}
                        - {key: a, key: b, value: c}
                        - {key: throttlekit_lease, header: x-lease}
                        - {key: throttlekit_response_code, header: x-code}
                        - {key: a, header: x, default: }
                        - {[a]: b, key: a, value: c}
                        - a
                """))
        .containsExactly(
            "3:16: entries has to be a list of at least one entry",
            "4:7: a descriptor needs entries",
            "5:7: a descriptor has to be a map of entries",
            "6:8: unknown key \"entreis\" in a descriptor (did you mean entries?)",
            "8:11: an entry needs a key",
            "9:17: key has to be a text that is not empty",
            "10:11: an entry has exactly one of header, attribute, context, value",
            "11:11: an entry has exactly one of header, attribute, context, value",
            "12:28: \"X-User\" has to be in lower case, as Envoy sends it: x-user",
            "13:28: \"x y\" is not the name of an HTTP header",
            "14:31: \"methd\" is not one of method, path, path_without_query, host, scheme,"
                + " source_address, principal (did you mean method?)",
            "15:29: context has to be a text that is not empty",
            "16:27: value has to be a text",
            "17:39: a value that is always the same needs no default",
            "18:20: key is given twice",
            "19:17: throttlekit_lease releases permits, and a check acquires them: leave that to"
                + " stream-done calls",
            "20:17: throttlekit_response_code reports on permits, and a check acquires them: leave"
                + " that to stream-done calls",
            "21:39: default has to be a text",
            "22:12: a key has to be a name",
            "23:11: an entry has to be a map of key, header, attribute, context, value, default");
    assertThat(errors("ext_authz: {descriptors: {entries: []}}"))
        .singleElement()
        .asString()
        .startsWith("1:26: ext_authz.descriptors has to be a list of descriptors, such as");
    assertThat(errors("ext_authz: {undescribed: refuse}"))
        .singleElement()
        .asString()
        .startsWith("1:26: \"refuse\" is not one of deny, allow");
  }

  private List<String> errors(String text) throws IOException {
    Path file = folder.resolve("c.yaml");
    return load(text).errors().stream().map(e -> e.replace(file + ":", "")).toList();
  }

  private static ExtAuthzConfig extAuthz(LoadedConfig loaded) {
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(Objects.requireNonNull(loaded.config()).extAuthz());
  }

  private LoadedConfig load(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("c.yaml"), text);
    return new ConfigLoader(environment)
        .load(Options.of("--policies", "policies", "--config", file.toString()));
  }
}
