package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.net.tcp.Forwarder;
import io.fibry.net.tcp.TcpListener;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Accepts TCP connections. The handler is called once for each client, on an actor of its own; when
 * it returns or throws, the connection is closed. With {@code Strategy.CALLER} there is one client
 * at a time. Thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="acceptor"}
 *
 * <p>If a handler fails because its client has disconnected, is too slow, or sends too much, this
 * is logged, in at most one line a minute. Other failures of a handler go to the failure policy.
 * Clients above the maximum number of connections wait in the system's backlog. If accepting fails,
 * the acceptor tries again after a pause of up to a second.
 *
 * <p>{@link #sendPoisonPill} and {@link #close} let handlers finish within the drain limit. Then
 * their connections are closed and their actors killed. {@link #askExit} also ends the input of
 * handlers that read. {@link #kill} cuts off all clients at once. After {@link #waitForExit} the
 * port is free, no connection is open, and no handler runs.
 */
public interface TcpAcceptor extends Exitable {

  /**
   * Opens an acceptor, which has the name of the builder. The actors of its clients have names
   * below that name, such as "chat/1".
   *
   * @param builder makes the actors; its mailbox is not used
   * @param port 0 for any free port
   * @param handler called once for each client, with its connection
   * @param options changes the limits
   * @return the listening acceptor
   * @throws IllegalArgumentException if there is no such port, or the name is taken
   * @throws java.io.UncheckedIOException if the acceptor cannot listen on this port
   */
  static TcpAcceptor open(ActorBuilder<?> builder, int port, Handler<TcpConnection> handler,
      UnaryOperator<TcpOptions> options) {
    Objects.requireNonNull(handler, "handler");
    Objects.requireNonNull(builder, "builder");
    return TcpListener.open(builder, port, handler, TcpOptions.settings(options));
  }

  /**
   * Opens an acceptor that forwards the bytes of each connection to a target and back, as fast as
   * the receiving side reads. A connection is idle while neither side sends. A connection whose
   * target cannot be reached within ten seconds is cut off. {@code toString} of the acceptor shows
   * how many clients and bytes there were.
   *
   * @param builder makes the actors; its mailbox is not used
   * @param port 0 for any free port
   * @param target the address of the target; an unresolved name is resolved for each client
   * @param options changes the limits
   * @return the listening acceptor
   * @throws IllegalArgumentException if there is no such port, or the name is taken
   * @throws java.io.UncheckedIOException if the acceptor cannot listen on this port
   */
  static TcpAcceptor forward(ActorBuilder<?> builder, int port, InetSocketAddress target,
      UnaryOperator<TcpOptions> options) {
    var forwarder = new Forwarder(target);
    Objects.requireNonNull(builder, "builder");
    return TcpListener.forward(builder, port, forwarder, TcpOptions.settings(options));
  }

  /** {@return the port on which the acceptor listens; if 0 was given, the port that was chosen} */
  int port();

  /** {@return a copy of the open connections} */
  Collection<TcpConnection> connections();

  @Override
  TcpAcceptor closeOnExit(AutoCloseable... resources);
}
