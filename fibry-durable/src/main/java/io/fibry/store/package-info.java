/** Stores of durable actors: {@link io.fibry.store.Store}, and its exceptions. */
package io.fibry.store;
