package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that the table of settings declares each of them whole, and nothing that is not read. */
class SettingsTest {
  private static final Set<String> ATTRIBUTES =
      Set.of(
          "form",
          "kind",
          "default",
          "needs",
          "peer",
          "peer_not",
          "peer_if",
          "peer_default",
          "peer_unit",
          "meaning",
          "expected",
          "values",
          "words",
          "synonyms",
          "min",
          "max",
          "pattern",
          "list",
          "optional",
          "masked");

  @Test
  void everySettingHasOnlyAttributesThatAreRead() {
    for (Setting setting : Settings.ALL) {
      assertThat(ATTRIBUTES).as(setting.path()).containsAll(setting.attributes().keySet());
      assertThat(setting.form().expected()).as(setting.path()).isNotEmpty().doesNotContain("{m");
      assertThat(setting.attribute("meaning")).as(setting.path()).isNotEmpty();
      assertThat(setting.attribute("values")).as(setting.path()).isNotEmpty();
    }
  }

  @Test
  void whatASettingRefersToIsThere() {
    for (Setting setting : Settings.ALL) {
      String needed = setting.attribute("needs");
      assertThat(needed.isEmpty() || Settings.find(needed) != null).as(setting.path()).isTrue();
      for (String variable : List.of("peer_if", "peer_not")) {
        String name = setting.attribute(variable);
        assertThat(name.isEmpty() ? List.of("true") : Settings.variable(name).words())
            .as(setting.path())
            .containsAnyOf("true", "GRPC_XDS_SOTW");
      }
      String peerDefault = setting.attribute("peer_default");
      if (!peerDefault.isEmpty()) {
        assertThat(setting.form().parseDeclared(List.of(peerDefault)))
            .as(setting.path())
            .isNotEqualTo(setting.fallback());
      }
    }
    for (ServeOption option : Settings.options()) {
      assertThat(option.setting().isEmpty() || Settings.find(option.setting()) != null)
          .as(option.name())
          .isTrue();
    }
  }

  @Test
  void noVariableOfThatProgramBelongsToTwoSettings() {
    assertThat(Settings.ALL.stream().map(setting -> setting.attribute("peer")))
        .filteredOn(name -> !name.isEmpty())
        .doesNotHaveDuplicates();
  }
}
