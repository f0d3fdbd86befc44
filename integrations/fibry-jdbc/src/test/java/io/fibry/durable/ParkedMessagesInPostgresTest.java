package io.fibry.durable;

class ParkedMessagesInPostgresTest extends ParkedMessagesContract {
  ParkedMessagesInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
