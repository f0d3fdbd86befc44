/**
 * The network as actors: {@link io.fibry.net.TcpAcceptor} makes an actor of each connection,
 * {@link io.fibry.net.UdpServer} has one for packets. Everything has a limit, and listens on the
 * loopback address unless told otherwise.
 */
package io.fibry.net;
