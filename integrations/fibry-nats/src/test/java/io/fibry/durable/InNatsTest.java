package io.fibry.durable;

class InNatsTest extends DurableContract {
  InNatsTest() {
    super(NatsStores.maker());
  }
}
