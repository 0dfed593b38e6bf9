package io.throttlekit.testkit.required;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test class runs against a real program, and is skipped only if that is unavailable. It may
 * need several: it is skipped if one of them is unavailable.
 *
 * <p>{@link RequiredTests} fails the build when such tests were skipped or not run although they
 * could. Put it on an annotation of the program's own. {@code -Pquick} leaves them out.
 */
@Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Repeatable(Requires.All.class)
@Tag("external")
@ExtendWith(SkippedWhereMissing.class)
public @interface Requires {

  /** The program. */
  Class<? extends ExternalProgram> value();

  /** Several programs. */
  @Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
  @Retention(RetentionPolicy.RUNTIME)
  @Inherited
  @Tag("external")
  @ExtendWith(SkippedWhereMissing.class)
  @interface All {

    /** Each of them. */
    Requires[] value();
  }
}
