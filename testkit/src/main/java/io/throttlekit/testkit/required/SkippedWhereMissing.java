package io.throttlekit.testkit.required;

import java.lang.reflect.Constructor;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips a class whose {@link Requires} names an unavailable program, with the reason. */
final class SkippedWhereMissing implements ExecutionCondition {

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return evaluate(context.getRequiredTestClass());
  }

  static ConditionEvaluationResult evaluate(Class<?> test) {
    for (ExternalProgram program : programs(test)) {
      String reason = program.whyMissing();
      if (reason != null) {
        return ConditionEvaluationResult.disabled(reason);
      }
    }
    return ConditionEvaluationResult.enabled("all that it needs is here");
  }

  /** All programs that a test class needs. */
  static List<ExternalProgram> programs(Class<?> test) {
    return AnnotationSupport.findRepeatableAnnotations(test, Requires.class).stream()
        .map(SkippedWhereMissing::program)
        .toList();
  }

  private static ExternalProgram program(Requires requires) {
    try {
      Constructor<? extends ExternalProgram> constructor =
          requires.value().getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(requires.value() + " has no constructor to call", e);
    }
  }
}
