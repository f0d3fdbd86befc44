package io.fibry.web;

import io.fibry.ActorScope;
import java.util.function.UnaryOperator;

class JavalinShopTest extends WebServerContract {
  @Override
  RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options) {
    return JavalinShop.open(warehouse, options, 0);
  }
}
