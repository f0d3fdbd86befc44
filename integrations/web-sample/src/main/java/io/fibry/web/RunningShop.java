package io.fibry.web;

/**
 * A shop behind a running server.
 *
 * @param port where the server listens
 * @param closing closes the server and the shop
 */
record RunningShop(Shop shop, int port, Runnable closing) implements AutoCloseable {
  @Override
  public void close() {
    closing.run();
  }
}
