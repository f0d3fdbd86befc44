/**
 * Actors in Spring Boot: a scope that ends with the context, actors as beans, and their health,
 * endpoint and meters.
 */
@NullMarked
package io.fibry.spring;

import org.jspecify.annotations.NullMarked;
