/** Messages on their way: {@link io.fibry.flow.Pipeline}. */
package io.fibry.flow;
