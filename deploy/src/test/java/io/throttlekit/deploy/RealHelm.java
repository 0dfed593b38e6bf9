package io.throttlekit.deploy;

import io.throttlekit.testkit.required.Requires;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Runs a real Helm; skipped with the reason only if none is available. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Requires(HelmProgram.class)
@interface RealHelm {}
