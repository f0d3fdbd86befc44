package io.fibry.durable;

class DurableInNatsTest extends DurableContract {
  DurableInNatsTest() {
    super(NatsStores.maker());
  }
}
