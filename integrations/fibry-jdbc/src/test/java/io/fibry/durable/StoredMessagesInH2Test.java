package io.fibry.durable;

class StoredMessagesInH2Test extends StoredMessagesContract {
  StoredMessagesInH2Test() {
    super(DatabaseStores.h2());
  }

  @Override
  void failNextWrite() {
    ((DatabaseStores) stores).failNextWrite();
  }
}
