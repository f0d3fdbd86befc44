package io.fibry.net;

import io.fibry.ActorBuilder;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listener whose conversations are the user's, or a forwarder's. */
final class Acceptor extends Listener implements TcpAcceptor {
  static final Logger LOG = LoggerFactory.getLogger(TcpAcceptor.class);

  /** A conversation; its toString says what for. */
  interface Talk {
    void with(Client client, Link link) throws Exception;
  }

  private final Talk talk;
  private final TcpOptions options;

  Acceptor(ActorBuilder<?> how, int port, Talk talk, TcpOptions options) {
    super(how, port, options.limits(), LOG);
    this.talk = talk;
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
      talk.with(client, link);
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
    return talk + " " + super.toString();
  }
}
