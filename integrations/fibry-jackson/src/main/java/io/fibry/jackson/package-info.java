/** JSON for stored data and for messages between nodes: {@link io.fibry.jackson.JacksonCodecs}. */
package io.fibry.jackson;
