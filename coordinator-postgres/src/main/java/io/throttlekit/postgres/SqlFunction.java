package io.throttlekit.postgres;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A function that uses a database.
 *
 * @param <A> its argument
 * @param <T> its result
 */
@FunctionalInterface
interface SqlFunction<A, T extends @Nullable Object> {
  T apply(A argument) throws SQLException;
}
