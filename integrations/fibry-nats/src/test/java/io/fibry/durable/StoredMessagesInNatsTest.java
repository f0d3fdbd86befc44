package io.fibry.durable;

class StoredMessagesInNatsTest extends StoredMessagesContract {
  StoredMessagesInNatsTest() {
    super(NatsStores.maker());
  }

  @Override
  void failNextWrite() {
    ((NatsStores) stores).failNextWrite();
  }
}
