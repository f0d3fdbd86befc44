/**
 * Listeners, which accept connections and end them, and the connection with one client: its
 * transport with or without TLS, its input, its output and its limits. Not exported.
 */
package io.fibry.net.socket;
