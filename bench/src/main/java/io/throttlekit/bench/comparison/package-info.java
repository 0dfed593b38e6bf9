/** Contenders under the same load in turn, their CPU time per decision, and the report. */
@NullMarked
package io.throttlekit.bench.comparison;

import org.jspecify.annotations.NullMarked;
