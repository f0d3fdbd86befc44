package io.fibry.durable;

class StoreInNatsTest extends StoreContract {
  StoreInNatsTest() {
    super(NatsStores.maker());
  }
}
