/** A shop whose warehouse can do four things at a time. */
@NullMarked
package io.fibry.sample;

import org.jspecify.annotations.NullMarked;
