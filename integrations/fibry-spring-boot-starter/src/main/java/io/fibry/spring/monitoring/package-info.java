/** The view of operators on actors in Spring Boot: health, an endpoint, meters, and traces. */
@NullMarked
package io.fibry.spring.monitoring;

import org.jspecify.annotations.NullMarked;
