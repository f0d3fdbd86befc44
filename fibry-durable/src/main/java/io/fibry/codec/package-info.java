/**
 * Values as bytes that stay readable: {@link io.fibry.codec.Codec}, for records, enums and sealed
 * interfaces.
 */
package io.fibry.codec;
