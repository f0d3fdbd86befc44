/**
 * Actors in Spring Boot: a scope that closes with the context, actors as beans, and their metrics.
 */
@NullMarked
package io.fibry.spring;

import org.jspecify.annotations.NullMarked;
