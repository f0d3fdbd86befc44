/** Actors that survive the process: {@link io.fibry.durable.Durable}. */
package io.fibry.durable;
