package io.fibry.durable;

class ParkedMessagesInNatsTest extends ParkedMessagesContract {
  ParkedMessagesInNatsTest() {
    super(NatsStores.maker());
  }
}
