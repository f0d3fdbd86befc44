/** What a flight recording sees of stores and durable actors. */
package io.fibry.store.recorder;
