package io.fibry.net;

import io.fibry.Handler;

/**
 * A conversation that is the user's.
 *
 * @param handler the user's code
 */
record Handled(Handler<TcpConnection> handler) implements Acceptor.Talk {
  @Override
  public void with(Client client, Link link) throws Exception {
    handler.handle(client);
  }

  @Override
  public String toString() {
    return "TCP acceptor";
  }
}
