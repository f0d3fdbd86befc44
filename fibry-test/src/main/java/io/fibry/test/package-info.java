/** Testing with actors: a scope with a manual clock, a recording probe, a JUnit extension. */
@NullMarked
package io.fibry.test;

import org.jspecify.annotations.NullMarked;
