/**
 * Actors in a Spring Boot application: a scope that lives and ends with the context, actors as
 * beans, and what Actuator and Micrometer see of them.
 */
@NullMarked
package io.fibry.spring;

import org.jspecify.annotations.NullMarked;
