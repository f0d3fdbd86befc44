/**
 * Servers whose connections are actors: {@link io.fibry.net.HttpServer},
 * {@link io.fibry.net.TcpAcceptor} and {@link io.fibry.net.UdpServer}. An HTTP server responds to
 * each {@link io.fibry.net.HttpExchange} by its {@link io.fibry.net.HttpRoutes}. An acceptor calls
 * a handler with each {@link io.fibry.net.TcpConnection}; the call lasts as long as the
 * conversation with the client. A WebSocket route calls its handler with each
 * {@link io.fibry.net.WebSocketConnection}. Each connection has an actor of its own; all packets of
 * a UDP server go to a single actor. TCP and HTTP may go through {@link io.fibry.net.ServerTls}.
 * Connections, messages and unsent bytes have limits by default. A server listens on the loopback
 * address unless its options name another address.
 */
package io.fibry.net;
