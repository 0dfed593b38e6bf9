package io.throttlekit.testkit.session;

import java.util.Optional;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;

/** Names of tests as a person searches for them. */
final class TestNames {
  private TestNames() {}

  /** Returns the class and method of a test, with the display name of one of a method's several. */
  static String of(TestIdentifier test) {
    TestSource source = test.getSource().orElse(null);
    if (source instanceof MethodSource method) {
      String name = method.getClassName() + "." + method.getMethodName();
      String display = test.getDisplayName();
      return display.startsWith(method.getMethodName() + "(") ? name : name + " " + display;
    }
    return source instanceof ClassSource type ? type.getClassName() : test.getDisplayName();
  }

  /** Returns the name of the class of a container for a top-level test class. */
  static Optional<String> topLevelClass(TestIdentifier test) {
    return test.getSource()
        .filter(ClassSource.class::isInstance)
        .map(source -> ((ClassSource) source).getClassName())
        .filter(_ -> test.getUniqueIdObject().getSegments().size() == 2); // engine and class
  }
}
