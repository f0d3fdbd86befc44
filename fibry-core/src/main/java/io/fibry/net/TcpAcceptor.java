package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Accepts TCP connections and holds a conversation with each: the handler is called once for a
 * client, on an actor of its own, and the connection is closed when it returns or throws.
 * Thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="acceptor"}
 *
 * <p>What a handler throws is for the builder's failure policy; but not what it was told by the
 * connection itself: that the client is gone, too slow, or sends what is too long. That is counted,
 * logged in one line a minute, and ends nothing but the conversation. On {@code Strategy.CALLER}
 * there is one conversation at a time.
 *
 * <p>Each conversation takes a permit before it is accepted; those too many wait in the system's
 * backlog. What fails while accepting, when file descriptors run out for instance, is tried again
 * after 5 milliseconds, and less and less often up to once a second.
 *
 * <p>By {@link #sendPoisonPill} and {@link #close} it stops accepting and lets conversations
 * finish, at most as long as the drain limit says; then their connections are closed and their
 * actors killed. By {@link #askExit} besides, a handler that reads finds the end of the stream. By
 * {@link #kill} they are cut off at once. When {@link #waitForExit} returns the port is free, no
 * connection is open, and the conversations have ended.
 */
public interface TcpAcceptor extends Exitable {

  /**
   * An acceptor. Where the builder has a name, that is the acceptor's, and the actors of its
   * clients are named below it ("chat/1").
   *
   * @param how makes the actors, in its scope; its mailbox is of no account
   * @param port where to listen; 0 for any port that is free
   * @param handler talks to a client until that is over
   * @param options changes the limits
   * @return the acceptor, listening
   * @throws IllegalArgumentException if there is no such port, or the scope has something living of
   * this name
   * @throws java.io.UncheckedIOException if it cannot listen there
   */
  static TcpAcceptor open(ActorBuilder<?> how, int port, Handler<TcpConnection> handler,
      UnaryOperator<TcpOptions> options) {
    return TcpListener.open(how, port, "TCP acceptor", Objects.requireNonNull(handler, "handler"), options);
  }

  /**
   * An acceptor that connects each client to a target and passes on what comes, in both directions:
   * at the pace of who reads, and the end of one direction as that. The limits are an acceptor's:
   * idle is a connection where nothing comes from either side. A client whose target cannot be
   * reached within ten seconds is cut off. How many clients there were, and how many bytes were
   * passed on each way, is said by {@code toString}.
   *
   * @param how makes the actors, in its scope; its mailbox is of no account
   * @param port where to listen; 0 for any port that is free
   * @param target where to connect to; where it is unresolved, its name is looked up for each
   * client
   * @param options changes the limits
   * @return the acceptor, listening
   * @throws IllegalArgumentException if there is no such port, or the scope has something living of
   * this name
   * @throws java.io.UncheckedIOException if it cannot listen there
   */
  static TcpAcceptor forward(ActorBuilder<?> how, int port, InetSocketAddress target,
      UnaryOperator<TcpOptions> options) {
    return TcpListener.forward(how, port, target, options);
  }

  /**
   * The port it listens on, also when 0 was asked for.
   *
   * @return the port
   */
  int port();

  /**
   * The connections that are open now.
   *
   * @return a copy
   */
  Collection<TcpConnection> connections();

  @Override
  TcpAcceptor closeOnExit(AutoCloseable... resources);
}
