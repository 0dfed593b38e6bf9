package io.throttlekit.required;

import java.lang.reflect.Constructor;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips a class whose {@link Requires} names a program that cannot be had, with the reason. */
final class SkippedWhereMissing implements ExecutionCondition {

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return evaluate(context.getRequiredTestClass());
  }

  static ConditionEvaluationResult evaluate(Class<?> test) {
    return AnnotationSupport.findAnnotation(test, Requires.class)
        .map(requires -> evaluate(program(requires)))
        .orElse(ConditionEvaluationResult.enabled("needs no program"));
  }

  static ExternalProgram program(Requires requires) {
    try {
      Constructor<? extends ExternalProgram> constructor =
          requires.value().getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(requires.value() + " has no constructor to call", e);
    }
  }

  private static ConditionEvaluationResult evaluate(ExternalProgram program) {
    String reason = program.whyMissing();
    return reason == null
        ? ConditionEvaluationResult.enabled(program.name() + " is here")
        : ConditionEvaluationResult.disabled(reason);
  }
}
