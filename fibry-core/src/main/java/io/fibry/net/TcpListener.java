package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listener whose conversations are the user's, or a forwarder's. */
final class TcpListener extends Listener implements TcpAcceptor {
  private static final Logger LOG = LoggerFactory.getLogger(TcpAcceptor.class);

  private final Object kind; // its toString says what the conversations are for
  private final Handler<? super ClientConnection> handler;
  private final TcpOptions options;

  private TcpListener(ActorBuilder<?> how, int port, Object kind, Handler<? super ClientConnection> handler,
      TcpOptions options) {
    super(how, port, options.limits(), LOG);
    this.kind = kind;
    this.handler = handler;
    this.options = options;
  }

  static TcpAcceptor open(ActorBuilder<?> how, int port, Object kind, Handler<? super ClientConnection> handler,
      UnaryOperator<TcpOptions> options) {
    Objects.requireNonNull(how, "how");
    var changed = Objects.requireNonNull(Objects.requireNonNull(options, "options").apply(TcpOptions.DEFAULT),
        "the changed options");
    var listener = new TcpListener(how, port, kind, handler, changed);
    listener.start();
    return listener;
  }

  static TcpAcceptor forward(ActorBuilder<?> how, int port, InetSocketAddress target,
      UnaryOperator<TcpOptions> options) {
    var forwarder = new Forwarder(target);
    var listener = open(how, port, forwarder, forwarder, options);
    return listener.closeOnExit(() -> LOG.debug("{} has ended", listener));
  }

  @Override
  Conversation conversation(ClientSocket socket, ActorBuilder<Object> how) {
    return new ClientConnection(socket, how, options, handler);
  }

  @Override
  public Collection<TcpConnection> connections() {
    return conversations().stream().map(conversation -> (TcpConnection) conversation).toList();
  }

  @Override
  public TcpListener closeOnExit(AutoCloseable... resources) {
    super.closeOnExit(resources);
    return this;
  }

  @Override
  public String toString() {
    return kind + " " + super.toString();
  }
}
