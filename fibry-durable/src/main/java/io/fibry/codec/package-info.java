/**
 * Codecs, which write records, enums and sealed interfaces as bytes that later versions can read.
 * Begin with {@link io.fibry.codec.Codec}.
 */
package io.fibry.codec;
