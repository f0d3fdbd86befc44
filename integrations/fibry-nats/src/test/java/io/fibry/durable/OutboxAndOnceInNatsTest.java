package io.fibry.durable;

class OutboxAndOnceInNatsTest extends OutboxAndOnceContract {
  OutboxAndOnceInNatsTest() {
    super(NatsStores.maker());
  }
}
