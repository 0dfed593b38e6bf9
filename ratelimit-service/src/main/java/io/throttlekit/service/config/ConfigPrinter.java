package io.throttlekit.service.config;

import java.util.List;

/** Prints every effective setting as YAML that is a valid configuration file, with its origin. */
final class ConfigPrinter {

  private ConfigPrinter() {}

  static String print(SettingValues values) {
    StringBuilder text = new StringBuilder();
    List<String> open = List.of();
    for (Setting<?> setting : Settings.ALL) {
      List<String> names = List.of(setting.path().split("\\.", -1));
      List<String> sections = names.subList(0, names.size() - 1);
      for (int depth = shared(open, sections); depth < sections.size(); depth++) {
        text.append("  ".repeat(depth)).append(sections.get(depth)).append(":\n");
      }
      open = sections;
      text.append("  ".repeat(sections.size()))
          .append(names.getLast())
          .append(": ")
          .append(values.print(setting))
          .append("  # ")
          .append(values.origin(setting))
          .append('\n');
    }
    return text.toString();
  }

  private static int shared(List<String> open, List<String> sections) {
    int depth = 0;
    while (depth < open.size()
        && depth < sections.size()
        && open.get(depth).equals(sections.get(depth))) {
      depth++;
    }
    return depth;
  }
}
