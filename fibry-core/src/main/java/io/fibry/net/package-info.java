/**
 * The network as actors: {@link io.fibry.net.HttpServer}, {@link io.fibry.net.TcpAcceptor} and
 * {@link io.fibry.net.UdpServer}. An HTTP server answers each {@link io.fibry.net.HttpExchange} by
 * its {@link io.fibry.net.HttpRoutes}. An acceptor gives each {@link io.fibry.net.TcpConnection} to
 * a handler, which is the conversation with that client; so does a route for each
 * {@link io.fibry.net.WebSocketConnection}. Each connection has an actor of its own; the packets of
 * a UDP server share one. TCP and HTTP may go through {@link io.fibry.net.Tls}. Everything has a
 * limit. A server listens on the loopback address unless its options name another.
 */
package io.fibry.net;
