/** Where durable actors are kept: {@link io.fibry.store.Store}, and what may go wrong with it. */
package io.fibry.store;
