/**
 * The TCP acceptors behind {@link io.fibry.net.TcpAcceptor}: connections with lines and frames, and
 * the forwarder. Not exported.
 */
package io.fibry.net.tcp;
