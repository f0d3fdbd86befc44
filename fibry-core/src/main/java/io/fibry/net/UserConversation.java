package io.fibry.net;

import io.fibry.Handler;

/**
 * A conversation that is the user's.
 *
 * @param handler the user's code
 */
record UserConversation(Handler<TcpConnection> handler) implements TcpListener.Talk {
  @Override
  public void with(ClientConnection client, ClientSocket link) throws Exception {
    handler.handle(client);
  }

  @Override
  public String toString() {
    return "TCP acceptor";
  }
}
