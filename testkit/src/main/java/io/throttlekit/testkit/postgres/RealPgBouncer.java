package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.required.Requires;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs against a real PostgreSQL behind a real PgBouncer; skipped with the reason only if one of
 * them is unavailable.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Requires(PostgresProgram.class)
@Requires(PgBouncerProgram.class)
public @interface RealPgBouncer {}
