/** The process: its parts are made and joined here, by hand. */
@NullMarked
package io.throttlekit.service;

import org.jspecify.annotations.NullMarked;
