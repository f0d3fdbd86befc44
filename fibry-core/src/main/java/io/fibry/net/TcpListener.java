package io.fibry.net;

import io.fibry.ActorBuilder;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listener whose conversations are the user's, or a forwarder's. */
final class TcpListener extends Listener implements TcpAcceptor {
  static final Logger LOG = LoggerFactory.getLogger(TcpAcceptor.class);

  /** A conversation; its toString says what for. */
  interface Talk {
    void with(ClientConnection client, ClientSocket link) throws Exception;
  }

  private final Talk talk;
  private final TcpOptions options;

  TcpListener(ActorBuilder<?> how, int port, Talk talk, TcpOptions options) {
    super(how, port, options.limits(), LOG);
    this.talk = talk;
    this.options = options;
  }

  @Override
  Object face(Conversation conversation) {
    return new ClientConnection(conversation, options);
  }

  @Override
  void converse(Object face, ClientSocket link) throws Exception {
    var client = (ClientConnection) face;
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
  public TcpListener closeOnExit(AutoCloseable... resources) {
    super.closeOnExit(resources);
    return this;
  }

  @Override
  public String toString() {
    return talk + " " + super.toString();
  }
}
