package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limits of one descriptor, which are charged as one. A setting that they have in common stands
 * beside them, or in each of them with the same value.
 *
 * @param beside settings for all limits: {@code rate_limit}, or the descriptor of {@code limits}
 * @param written each limit, which is {@code beside} for {@code rate_limit}
 */
record LimitGroup(PolicySection beside, List<PolicySection> written) {

  /** Returns the section of each limit, and the one beside them. */
  List<PolicySection> places() {
    List<PolicySection> places = new ArrayList<>(written);
    places.add(beside);
    return places;
  }

  /** Returns whether the key is written anywhere. */
  boolean names(String key) {
    return places().stream().anyMatch(place -> place.has(key));
  }

  /** Returns the common word, or its default; null when it is not known, or after an error. */
  @Nullable String word(String key) {
    return common(key, false);
  }

  /** Returns the common flag, or its default; false after an error. */
  boolean flag(String key) {
    return "true".equals(common(key, true));
  }

  private @Nullable String common(String key, boolean flag) {
    String otherwise = beside.has(key) || !beside.mayMean(key) ? read(beside, key, flag) : null;
    String first = otherwise;
    boolean differ = false;
    for (int i = 0; i < written.size(); i++) {
      PolicySection limit = written.get(i);
      // A part that could not be read may hold the key.
      String inherited = limit.mayMean(key) ? null : otherwise;
      String own = limit.has(key) ? read(limit, key, flag) : inherited;
      if (i > 0 && own != null && first != null && !own.equals(first)) {
        differ = true;
        limit.errorAtKey(
            key,
            "the limits of one descriptor are charged as one, so %s must be the same"
                .formatted(Wording.quote(key)),
            "write it once, beside limits");
      }
      first = i == 0 ? own : first;
    }
    return differ ? null : first;
  }

  private static @Nullable String read(PolicySection place, String key, boolean flag) {
    return flag ? String.valueOf(place.flag(key)) : place.word(key);
  }
}
