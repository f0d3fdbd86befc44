package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.ChangedCopy;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A TCP acceptor: a listener that calls a handler with each connection. */
final class TcpListener extends Listener<TcpAcceptor> implements TcpAcceptor {
  private static final Logger LOG = LoggerFactory.getLogger(TcpAcceptor.class);

  private final Object kind; // a Forwarder, or "TCP acceptor"; its text is the beginning of toString()
  private final Handler<? super ClientConnection> handler;
  private final TcpOptions options;

  private TcpListener(ActorBuilder<?> builder, int port, Object kind, Handler<? super ClientConnection> handler,
      TcpOptions options) {
    super(builder, port, options.limits(), options.tls.map(tls -> tls.engines()), LOG);
    this.kind = kind;
    this.handler = handler;
    this.options = options;
  }

  static TcpAcceptor open(ActorBuilder<?> builder, int port, Object kind, Handler<? super ClientConnection> handler,
      UnaryOperator<TcpOptions> options) {
    Objects.requireNonNull(handler, "handler");
    Objects.requireNonNull(builder, "builder");
    return new TcpListener(builder, port, kind, handler, ChangedCopy.of(TcpOptions.DEFAULT, options)).start();
  }

  static TcpAcceptor forward(ActorBuilder<?> builder, int port, InetSocketAddress target,
      UnaryOperator<TcpOptions> options) {
    var forwarder = new Forwarder(target);
    var listener = open(builder, port, forwarder, forwarder, options);
    return listener.closeOnExit(() -> LOG.debug("{} has ended", listener));
  }

  @Override
  Conversation conversation(ClientSocket socket, ActorBuilder<Object> builder) {
    return new ClientConnection(socket, builder, options, handler);
  }

  @Override
  public Collection<TcpConnection> connections() {
    return conversations().stream().map(conversation -> (TcpConnection) conversation).toList();
  }

  @Override
  public String toString() {
    return kind + " " + super.toString();
  }
}
