package io.throttlekit.service.config.load;

import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings of the section {@code ext_authz}. */
final class ExtAuthzSettings extends Section {
  private static final String DENY = "deny";
  private static final String ALLOW = "allow";

  private final Setting<String> domain = setting("ext_authz.domain", Forms.text(), "");
  private final Setting<List<RequestDescriptor>> descriptors =
      setting("ext_authz.descriptors", RequestDescriptors.form(), List.of());
  private final Setting<String> undescribed =
      setting("ext_authz.undescribed", Forms.word(List.of(DENY, ALLOW), Map.of()), DENY);

  /** Returns the configuration; null without descriptors. */
  @Nullable ExtAuthzConfig assemble(SettingValues values) {
    if (!values.differs(descriptors)) {
      values.warnIfSet(domain, "there are no " + descriptors);
      values.warnIfSet(undescribed, "there are no " + descriptors);
      return null;
    }
    boolean admits =
        values.get(undescribed).equals(ALLOW) || values.get(Settings.RESPONSE.shadowMode);
    return new ExtAuthzConfig(values.get(domain), values.get(descriptors), admits);
  }
}
