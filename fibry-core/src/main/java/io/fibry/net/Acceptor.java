package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Collection;
import org.slf4j.LoggerFactory;

/** A listener whose conversations are the user's. */
final class Acceptor extends Listener implements TcpAcceptor {
  private final Handler<TcpConnection> handler;
  private final TcpOptions options;

  Acceptor(ActorBuilder<?> how, int port, Handler<TcpConnection> handler, TcpOptions options) {
    super(how, port, options.limits(), LoggerFactory.getLogger(TcpAcceptor.class));
    this.handler = handler;
    this.options = options;
  }

  @Override
  Object face(Conversation conversation) {
    return new Client(conversation, options);
  }

  @Override
  void converse(Object face, Link link) throws Exception {
    var client = (Client) face;
    try {
      handler.handle(client);
    } finally {
      client.close();
    }
  }

  @Override
  public Collection<TcpConnection> connections() {
    return conversations().stream().map(conversation -> (TcpConnection) conversation.face).toList();
  }

  @Override
  public Acceptor closeOnExit(AutoCloseable... resources) {
    super.closeOnExit(resources);
    return this;
  }

  @Override
  public String toString() {
    return "TCP acceptor " + super.toString();
  }
}
