package io.throttlekit.service.config.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Settings of the file, in the order in which they are declared and printed. */
abstract class Section {
  private final List<Setting<?>> settings = new ArrayList<>();

  /** Returns all settings. */
  final List<Setting<?>> settings() {
    return List.copyOf(settings);
  }

  /** Adds a setting. */
  final <T> Setting<T> setting(String path, Form<T> form, T fallback) {
    Setting<T> setting = new Setting<>(path, form, fallback);
    settings.add(setting);
    return setting;
  }

  /** Adds a setting that is true or false. */
  final Setting<Boolean> flag(String path, boolean fallback) {
    return setting(path, Forms.flag(), fallback);
  }

  /** Adds a setting that is a whole number of a range. */
  final Setting<Integer> count(String path, int least, int most, int fallback) {
    return setting(path, Forms.count(least, most), fallback);
  }

  /** Adds a setting that is a duration of a range. */
  final Setting<Duration> duration(String path, Duration least, Duration most, Duration fallback) {
    return setting(path, Forms.duration(least, most), fallback);
  }

  /** Adds a setting that is the path of a file; empty by default. */
  final Setting<String> file(String path) {
    return setting(path, Forms.optionalPath(), "");
  }

  /** Adds the settings of a part. */
  final <S extends Section> S part(S part) {
    settings.addAll(part.settings());
    return part;
  }
}
