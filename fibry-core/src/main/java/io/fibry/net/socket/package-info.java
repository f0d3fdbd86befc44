/**
 * The connection of a listener with one client: its transport with or without TLS, its input, its
 * output and its limits. Also the listener, which accepts connections and ends them. Not exported.
 */
package io.fibry.net.socket;
