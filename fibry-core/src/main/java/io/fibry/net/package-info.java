/** The network as actors: {@link io.fibry.net.TcpAcceptor} makes an actor of each connection. Everything has a limit, and listens on the loopback address unless told otherwise. */
package io.fibry.net;
