package io.throttlekit.service.config.load;

import io.throttlekit.descriptors.source.Wording;
import java.util.Collection;

/** Spelling suggestions. */
public final class Spelling {
  private Spelling() {}

  /** Returns " (did you mean x?)" for the nearest word, or an empty text when none is near. */
  public static String hint(String word, Collection<String> words) {
    String nearest = Wording.nearest(word, words);
    return nearest == null ? "" : " (did you mean " + nearest + "?)";
  }
}
