package io.throttlekit.bench;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * A class loader that loads the types of this project anew and counts the executions of their
 * methods, so that {@link RequestPath} can list what a request executes.
 */
public final class ExecutedTypes extends ClassLoader {
  // Static, because instrumented methods have no reference to an instance. Loaded once, by the
  // loader of this class.
  private static final ConcurrentMap<String, LongAdder> EXECUTIONS = new ConcurrentHashMap<>();
  private static final String PROJECT = "io.throttlekit.";
  private static final Set<String> GENERATED = Set.of("equals", "hashCode", "toString");
  private static final ClassDesc RECORDER = ClassDesc.of(ExecutedTypes.class.getName());
  private static final MethodTypeDesc RECORD =
      MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String);

  private final ClassFile classes =
      ClassFile.of(
          ClassFile.ClassHierarchyResolverOption.of(
              ClassHierarchyResolver.ofResourceParsing(this)));

  ExecutedTypes() {
    super(ExecutedTypes.class.getClassLoader());
  }

  /** Counts an execution; called by every method of the project that this loader has loaded. */
  public static void executed(String type) {
    EXECUTIONS.computeIfAbsent(type, _ -> new LongAdder()).increment();
  }

  /** Clears all counts of executions. */
  public static void clear() {
    EXECUTIONS.clear();
  }

  /** Returns the types with at least {@code times} executions since {@link #clear}, by name. */
  public static Set<String> since(int times) {
    Set<String> types = new TreeSet<>();
    EXECUTIONS.forEach((type, count) -> {
      if (count.sum() >= times) {
        types.add(type);
      }
    });
    return types;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    // This class is shared with the instrumented ones, which record here.
    if (!name.startsWith(PROJECT) || name.equals(ExecutedTypes.class.getName())) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known != null ? known : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      ClassModel type = classes.parse(file.readAllBytes());
      byte[] counted =
          classes.transformClass(
              type,
              ClassTransform.transformingMethodBodies(
                  method -> !isGenerated(type, method),
                  CodeTransform.ofStateful(() -> counting(name))));
      return defineClass(name, counted, 0, counted.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Returns whether the compiler wrote a method of a record, which coverage tools leave out. */
  private static boolean isGenerated(ClassModel type, MethodModel method) {
    String name = method.methodName().stringValue();
    return type.superclass().map(of -> of.asInternalName().equals("java/lang/Record")).orElse(false)
        && (GENERATED.contains(name)
            || type.fields().stream().anyMatch(field -> field.fieldName().equalsString(name)));
  }

  private static CodeTransform counting(String name) {
    return new CodeTransform() {
      @Override
      public void atStart(CodeBuilder code) {
        code.ldc(name).invokestatic(RECORDER, "executed", RECORD);
      }

      @Override
      public void accept(CodeBuilder code, CodeElement element) {
        code.with(element);
      }
    };
  }
}
