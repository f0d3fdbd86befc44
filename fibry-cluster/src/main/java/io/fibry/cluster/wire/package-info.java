/**
 * The names of subjects and headers, the version, and the encoding of the messages that nodes
 * exchange. Not exported.
 */
package io.fibry.cluster.wire;
