package io.throttlekit.service.config;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the section {@code ext_authz}, in the order in which they are printed, and their
 * assembly.
 */
final class ExtAuthzSettings {
  private static final String DENY = "deny";
  private static final String ALLOW = "allow";

  static final Setting<String> DOMAIN = new Setting<>("ext_authz.domain", Forms.text(), "");
  static final Setting<List<RequestDescriptor>> DESCRIPTORS =
      new Setting<>("ext_authz.descriptors", RequestDescriptors.form(), List.of());
  static final Setting<String> UNDESCRIBED =
      new Setting<>("ext_authz.undescribed", Forms.word(List.of(DENY, ALLOW), Map.of()), DENY);

  static final List<Setting<?>> ALL = List.of(DOMAIN, DESCRIPTORS, UNDESCRIBED);

  private ExtAuthzSettings() {}

  /** Returns the configuration; null without descriptors. */
  static @Nullable ExtAuthzConfig assemble(SettingValues values) {
    List<RequestDescriptor> descriptors = values.get(DESCRIPTORS);
    if (!descriptors.isEmpty()) {
      boolean admits = values.get(UNDESCRIBED).equals(ALLOW) || values.get(Settings.SHADOW_MODE);
      return new ExtAuthzConfig(values.get(DOMAIN), descriptors, admits);
    }
    for (Setting<String> idle : List.of(DOMAIN, UNDESCRIBED)) {
      if (!values.get(idle).equals(idle.fallback())) {
        values.warn(
            "%s (%s) has no effect: there are no %s"
                .formatted(idle, values.origin(idle), DESCRIPTORS));
      }
    }
    return null;
  }
}
