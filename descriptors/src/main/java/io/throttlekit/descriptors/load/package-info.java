/** Readers from YAML to rules, by the schema of the policy language. */
@NullMarked
package io.throttlekit.descriptors.load;

import org.jspecify.annotations.NullMarked;
