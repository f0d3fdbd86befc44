package io.fibry.durable;

class StoredMessagesInPostgresTest extends StoredMessagesContract {
  StoredMessagesInPostgresTest() {
    super(DatabaseStores.postgres());
  }

  @Override
  void failNextWrite() {
    ((DatabaseStores) stores).failNextWrite();
  }
}
