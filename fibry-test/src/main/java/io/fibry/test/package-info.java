/**
 * For tests of programs that use actors: a scope whose time a test moves, a probe that records, an
 * extension for JUnit.
 */
@NullMarked
package io.fibry.test;

import org.jspecify.annotations.NullMarked;
