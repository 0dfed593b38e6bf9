/** The configured backends that this process shares with others: store, escrow and coordinator. */
@NullMarked
package io.throttlekit.service.store;

import org.jspecify.annotations.NullMarked;
