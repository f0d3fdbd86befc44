/**
 * Actors in Spring Boot: a scope that closes with the context, actors as beans, their store and
 * node, and executors that are pools of fibers.
 */
@NullMarked
package io.fibry.spring;

import org.jspecify.annotations.NullMarked;
