/** Helpers that the blocks of the library share. Not exported. */
package io.fibry.block;
