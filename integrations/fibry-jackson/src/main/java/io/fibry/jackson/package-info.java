/** JSON for stored data and for messages between nodes: {@link io.fibry.jackson.JacksonCodec}. */
package io.fibry.jackson;
