package io.fibry.durable;

class StoredContextInNatsTest extends StoredContextContract {
  StoredContextInNatsTest() {
    super(NatsStores.maker());
  }
}
