package io.fibry.web;

import io.fibry.ActorScope;
import java.util.function.UnaryOperator;

class SpringShopTest extends WebServerContract {
  @Override
  RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options) {
    return SpringShop.open(warehouse, options, 0);
  }

  /** Shortens Tomcat's own limit for a write, because Tomcat ignores the interrupt of a writer. */
  @Override
  RunningShop openImpatient(Warehouse impatientWarehouse, UnaryOperator<ActorScope.Options> options) {
    return SpringShop.open(impatientWarehouse, options, 0, "--server.tomcat.connection-timeout=3s");
  }
}
