/** A shop whose warehouse serves four orders at a time. */
@NullMarked
package io.fibry.sample;

import org.jspecify.annotations.NullMarked;
