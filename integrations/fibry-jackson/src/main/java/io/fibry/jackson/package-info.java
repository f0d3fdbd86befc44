/** What durable actors keep, and what travels, as JSON: {@link io.fibry.jackson.JacksonCodec}. */
package io.fibry.jackson;
